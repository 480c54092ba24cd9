package shop

// An emulator for this package's tests, clean for each of them. Packages that are tested in parallel have one each.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What the emulator writes when it is ready: the parts that are used here.
type environment struct {
	HTTP      string
	Topics    []struct{ ID, Endpoint, Key string }
	Languages struct {
		Go struct{ Variables map[string]string }
	}
}

var emulator environment

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "emulator")
		must(err)
		defer os.RemoveAll(folder)
		webhook = newWebhook()
		defer webhook.server.Close()
		defer startEmulator(filepath.Join(folder, "ready.json"))()
		return m.Run()
	}())
}

// startEmulator starts an emulator on free ports. Its standard input ends with this process, and so does it.
func startEmulator(ready string) (stop func()) {
	command := strings.Fields("npx --no-install eventgrid-emulator")
	if other := os.Getenv("EVENTGRID_EMULATOR"); other != "" {
		command = strings.Fields(other)
	}
	ingress := "https://shop.example.com/=" + webhook.server.URL + "/"
	process := exec.Command(command[0], append(command[1:], "--port", "0", "--http-port", "0", "--ready-file", ready,
		"--until-stdin-ends", "--manual-clock", "--ingress", ingress)...)
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	must(err)
	must(process.Start())
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	for json.Unmarshal(contents(ready), &emulator) != nil {
		select {
		case err := <-ended:
			panic(fmt.Sprint("the emulator has ended: ", err))
		case <-time.After(50 * time.Millisecond):
		}
	}
	for name, value := range emulator.Languages.Go.Variables {
		must(os.Setenv(name, value))
	}
	return func() { _ = input.Close(); <-ended }
}

func contents(file string) []byte {
	text, _ := os.ReadFile(file) // Not there yet: no contents.
	return text
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// reset makes the emulator and the webhook as they were at the start.
func reset(t *testing.T) {
	post(t, "reset", map[string]any{"resources": true})
	webhook.clear()
}

func post(t *testing.T, name string, body any) {
	t.Helper()
	text, err := json.Marshal(body)
	must(err)
	answer, err := http.Post(emulator.HTTP+"/emulator/"+name, "application/json", bytes.NewReader(text))
	must(err)
	read(t, answer, nil)
}

func get(t *testing.T, name string, query url.Values, into any) {
	t.Helper()
	answer, err := http.Get(emulator.HTTP + "/emulator/" + name + "?" + query.Encode())
	must(err)
	read(t, answer, into)
}

func read(t *testing.T, answer *http.Response, into any) {
	t.Helper()
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		var problem struct{ Detail string }
		must(json.NewDecoder(answer.Body).Decode(&problem))
		t.Fatal(problem.Detail)
	}
	if into != nil {
		must(json.NewDecoder(answer.Body).Decode(into))
	}
}
