package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Longest wait for what the emulator does by itself: a call of the webhook, or a status.
const longestWait = 20 * time.Second

// A call of the webhook: a validation event, or a delivery.
type call struct {
	path, eventType string
	events          []map[string]any
}

// A webhook on a free local port that keeps what is posted to it. It answers both handshakes, but leaves that of /manual to a person.
type subscriber struct {
	port    int
	mutex   sync.Mutex
	calls   []call
	changed chan struct{}
}

func newSubscriber() (*subscriber, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	webhook := &subscriber{port: port, changed: make(chan struct{})}
	go func() { must(http.Serve(listener, webhook)) }()
	return webhook, nil
}

// url is the public address of a path, which the emulator's ingress sends to the local port.
func (s *subscriber) url(path string) string {
	return fmt.Sprintf("https://port-%d.subscriber.example%s", s.port, path)
}

func (s *subscriber) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodOptions {
		response.Header().Set("WebHook-Allowed-Origin", request.Header.Get("WebHook-Request-Origin"))
		return
	}
	body, err := io.ReadAll(request.Body)
	posted := call{path: request.URL.Path, eventType: request.Header.Get("aeg-event-type")}
	if !bytes.HasPrefix(body, []byte("[")) {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	if err = errors.Join(err, json.Unmarshal(body, &posted.events)); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	s.keep(posted)
	if posted.eventType == "SubscriptionValidation" && posted.path != "/manual" {
		code := posted.validation()["validationCode"]
		_ = json.NewEncoder(response).Encode(map[string]any{"validationResponse": code})
	}
}

func (s *subscriber) keep(posted call) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.calls = append(s.calls, posted)
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *subscriber) kept() ([]call, <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.calls), s.changed
}

// wait takes the first call that matches, whether it has come or is still to come.
func (s *subscriber) wait(ctx context.Context, matches func(call) bool) (call, error) {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	for {
		calls, changed := s.kept()
		if at := slices.IndexFunc(calls, matches); at >= 0 {
			return calls[at], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return call{}, fmt.Errorf("not among %d calls of the webhook: %w", len(calls), ctx.Err())
		}
	}
}

// delivery waits for the event of an id: the path that it was sent to, and the event.
func (s *subscriber) delivery(ctx context.Context, id string) (string, map[string]any, error) {
	isIt := func(event map[string]any) bool { return event["id"] == id }
	delivered, err := s.wait(ctx, func(one call) bool {
		return one.eventType == "Notification" && slices.ContainsFunc(one.events, isIt)
	})
	if err != nil {
		return "", nil, err
	}
	return delivered.path, delivered.events[slices.IndexFunc(delivered.events, isIt)], nil
}

// validation is the data of a validation event.
func (c call) validation() map[string]any {
	if len(c.events) == 0 {
		return nil
	}
	data, _ := c.events[0]["data"].(map[string]any)
	return data
}
