// An application with Dapr's SDK for Go, unmodified: it takes events and publishes over gRPC. Each step is a line of JSON on standard
// output. The environment has the ports and tokens as daprd sets them. A line on standard input says that events may come.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dapr/go-sdk/client"
	"github.com/dapr/go-sdk/service/common"
	"github.com/dapr/go-sdk/service/grpc"
)

type line struct {
	Step  string `json:"step"`
	Error string `json:"error,omitempty"`
}

type event struct {
	Type string         `json:"type"`
	Data map[string]int `json:"data"`
}

var attempts atomic.Int32

func step(name string, check func() error) {
	said := line{Step: name}
	if err := check(); err != nil {
		said.Error = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(said)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fails(err error, text string) error {
	if err == nil {
		return errors.New("it did not fail")
	}
	if !strings.Contains(err.Error(), text) {
		return fmt.Errorf("%q lacks %q", err, text)
	}
	return nil
}

func main() {
	handled := make(chan event, 10)
	service, err := grpc.NewService("127.0.0.1:" + os.Getenv("APP_PORT"))
	must(err)
	must(service.AddBindingInvocationHandler("orders", func(_ context.Context, in *common.BindingEvent) ([]byte, error) {
		if attempts.Add(1) == 1 {
			return nil, errors.New("not yet")
		}
		var taken event
		if err := json.Unmarshal(in.Data, &taken); err != nil {
			return nil, err
		}
		handled <- taken
		return nil, nil
	}))
	go func() { must(service.Start()) }()
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dapr, err := client.NewClientWithPort(os.Getenv("DAPR_GRPC_PORT"))
	must(err)
	create := func(name string) (*client.BindingEvent, error) {
		return dapr.InvokeBinding(ctx, &client.InvokeBindingRequest{
			Name:      name,
			Operation: "create",
			Data:      []byte(`{"order":1}`),
			Metadata:  map[string]string{"type": "order.placed"},
		})
	}

	step("publishes with create and gets the ids", func() error {
		answer, err := create("orders")
		if err == nil && answer.Metadata["count"] != "1" {
			return fmt.Errorf("%v", answer.Metadata)
		}
		return err
	})
	step("takes the event, which was delivered again after its handler had failed", func() error {
		select {
		case taken := <-handled:
			if taken.Type != "order.placed" || taken.Data["order"] != 1 || attempts.Load() != 2 {
				return fmt.Errorf("%v after %d attempts", taken, attempts.Load())
			}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	step("reads the metadata", func() error {
		metadata, err := dapr.GetMetadata(ctx)
		if err == nil && (len(metadata.RegisteredComponents) != 1 || metadata.RegisteredComponents[0].Name != "orders") {
			return fmt.Errorf("%v", metadata.RegisteredComponents)
		}
		return err
	})
	step("gets the text of Dapr for an unknown binding", func() error {
		_, err := create("parcels")
		return fails(err, "couldn't find output binding parcels")
	})
	step("is told to take daprd for state", func() error {
		_, err := dapr.GetState(ctx, "store", "key", nil)
		return fails(err, "does not implement the method")
	})
	step("shuts it down", func() error { return dapr.Shutdown(ctx) })
}
