package shop

// The subscriber: consents to the handshake, counts what it gets, and answers as a test wants it to.

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
)

type subscriber struct {
	server   *httptest.Server
	mutex    sync.Mutex
	received []string // subjects
	answers  []int    // the next statuses; 200 after them
}

var webhook *subscriber

func newWebhook() *subscriber {
	made := &subscriber{}
	made.server = httptest.NewServer(made)
	return made
}

func (s *subscriber) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	if request.Method == http.MethodOptions {
		answer.Header().Set("WebHook-Allowed-Origin", request.Header.Get("WebHook-Request-Origin"))
		return
	}
	var event struct{ Subject string }
	must(json.NewDecoder(request.Body).Decode(&event))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.received = append(s.received, event.Subject)
	if len(s.answers) > 0 {
		answer.WriteHeader(s.answers[0])
		s.answers = s.answers[1:]
	}
}

func (s *subscriber) clear(answers ...int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.received, s.answers = nil, answers
}

func (s *subscriber) subjects() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return append([]string{}, s.received...)
}
