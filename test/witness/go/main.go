// The witness from another language: Dapr's own Event Grid binding, as its module ships it, against the emulator.
// It prints a line for each step it has taken; test/witness/go-binding.ts reads them and looks at the emulator's side.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/dapr/components-contrib/bindings"
	"github.com/dapr/components-contrib/bindings/azure/eventgrid"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/kit/logger"
)

// A step, as one line of JSON on standard output.
type step struct {
	Step  string          `json:"step"`
	Error string          `json:"error,omitempty"`
	Event json.RawMessage `json:"event,omitempty"`
}

func say(s step) {
	line, err := json.Marshal(s)
	if err != nil {
		line, _ = json.Marshal(step{Step: s.Step, Error: err.Error()})
	}
	fmt.Println(string(line))
}

func done(name string, err error) {
	if err != nil {
		say(step{Step: name, Error: err.Error()})
		return
	}
	say(step{Step: name})
}

// Its metadata is a JSON object in the environment. Each line of standard input is an event for Invoke; the end of input ends it.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	properties := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv("BINDING_METADATA")), &properties); err != nil {
		done("init", err)
		os.Exit(1)
	}
	log := logger.NewLogger("witness")
	log.SetOutput(os.Stderr)
	binding := eventgrid.NewAzureEventGrid(log)
	err := binding.Init(ctx, bindings.Metadata{Base: metadata.Base{Name: "orders", Properties: properties}})
	done("init", err)
	if err != nil {
		os.Exit(1)
	}
	err = binding.Read(ctx, func(_ context.Context, event *bindings.ReadResponse) ([]byte, error) {
		say(step{Step: "event", Event: event.Data})
		return nil, nil
	})
	done("read", err)
	if err != nil {
		os.Exit(1)
	}

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		request := &bindings.InvokeRequest{Operation: bindings.CreateOperation, Data: append([]byte{}, lines.Bytes()...)}
		_, err := binding.Invoke(ctx, request)
		done("invoke", err)
	}
	done("close", binding.Close())
}
