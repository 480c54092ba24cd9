// daprd's side of the hop alone: its own client of pluggable input bindings, with an application that has handled each event at once.
// Arguments are the socket and the component's name, BENCH_METADATA the component's metadata.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/dapr/components-contrib/bindings"
	"github.com/dapr/components-contrib/metadata"
	loader "github.com/dapr/dapr/pkg/components/bindings"
	"github.com/dapr/kit/logger"
)

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	ctx := context.Background()
	properties := map[string]string{}
	if err := json.Unmarshal([]byte(os.Getenv("BENCH_METADATA")), &properties); err != nil {
		fail(err)
	}
	log := logger.NewLogger("bench")
	log.SetOutput(os.Stderr)
	binding := loader.NewGRPCInputBinding(log, os.Args[1])
	if err := binding.Init(ctx, bindings.Metadata{Base: metadata.Base{Name: os.Args[2], Properties: properties}}); err != nil {
		fail(err)
	}
	handled := func(context.Context, *bindings.ReadResponse) ([]byte, error) { return nil, nil }
	if err := binding.Read(ctx, handled); err != nil {
		fail(err)
	}
	fmt.Println("{}")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println("{}")
	}
}
