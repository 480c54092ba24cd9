// The peer: Dapr's own Event Grid binding, as its module ships it. It speaks the benchmark's JSON lines:
// one when it is ready, then one for each order to publish. The end of its input ends it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dapr/components-contrib/bindings"
	"github.com/dapr/components-contrib/bindings/azure/eventgrid"
	"github.com/dapr/components-contrib/metadata"
	"github.com/dapr/kit/logger"
)

type order struct {
	Callers int     `json:"callers"`
	Ms      float64 `json:"ms"`
}

type published struct {
	Events int64   `json:"events"`
	Ms     float64 `json:"ms"`
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func say(message any) {
	line, err := json.Marshal(message)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(line))
}

// Its metadata is a JSON object in the environment, BENCH_PAYLOAD the event that it publishes.
func main() {
	ctx := context.Background()
	properties := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv("BENCH_METADATA")), &properties); err != nil {
		fail(err)
	}
	log := logger.NewLogger("bench")
	log.SetOutput(os.Stderr)
	binding := eventgrid.NewAzureEventGrid(log)
	if err := binding.Init(ctx, bindings.Metadata{Base: metadata.Base{Name: "bench", Properties: properties}}); err != nil {
		fail(err)
	}
	if properties["scope"] != "" {
		err := binding.Read(ctx, func(context.Context, *bindings.ReadResponse) ([]byte, error) { return nil, nil })
		if err != nil {
			fail(err)
		}
	}
	say(map[string]any{"ports": []string{properties["handshakePort"]}})

	payload := []byte(os.Getenv("BENCH_PAYLOAD"))
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var one order
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			fail(err)
		}
		say(publish(ctx, binding, payload, one))
	}
	if err := binding.Close(); err != nil {
		fail(err)
	}
}

func publish(ctx context.Context, binding bindings.OutputBinding, payload []byte, one order) published {
	var events atomic.Int64
	var callers sync.WaitGroup
	started := time.Now()
	length := time.Duration(one.Ms * float64(time.Millisecond))
	for range one.Callers {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for time.Since(started) < length {
				request := &bindings.InvokeRequest{Operation: bindings.CreateOperation, Data: payload}
				if _, err := binding.Invoke(ctx, request); err != nil {
					fail(err)
				}
				events.Add(1)
			}
		}()
	}
	callers.Wait()
	return published{Events: events.Load(), Ms: float64(time.Since(started)) / float64(time.Millisecond)}
}
