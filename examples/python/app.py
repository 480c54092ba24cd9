"""An application in Python, without a package: it receives events from eventgrid-binding and publishes through it."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import Request, urlopen

PORT = 3000  # the --app-port of run
BINDING = "http://127.0.0.1:3500/v1.0/bindings/orders"  # the component orders; 3500 is the --http-port of run


def publish(event_type, data):
    """Publishes an event. An answer other than 2xx raises an HTTPError, whose body says why."""
    call = {"operation": "create", "data": data, "metadata": {"type": event_type}}
    request = Request(BINDING, json.dumps(call).encode(), {"content-type": "application/json"})
    with urlopen(request) as answer:
        return json.loads(answer.headers["metadata.ids"])


class Application(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection for the next event

    def do_OPTIONS(self):
        """run asks whether the application wants the events of the component."""
        self.answer(200)

    def do_POST(self):
        event = json.loads(self.rfile.read(int(self.headers["content-length"])))
        print(self.path, event["type"], event["data"], flush=True)
        if event["type"] == "order.placed":
            publish("order.confirmed", event["data"])
        self.answer(200)  # acknowledges. An exception before this line closes the connection: the event comes again

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """No line for each request."""


server = ThreadingHTTPServer(("127.0.0.1", PORT), Application)
print(f"the application listens on port {PORT}", flush=True)
server.serve_forever()
