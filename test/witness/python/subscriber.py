"""A webhook on a free local port that keeps what it is sent."""

import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WAIT_SECONDS = 20


@dataclass(frozen=True)
class Call:
    method: str
    path: str
    headers: dict
    body: str

    def json(self):
        return json.loads(self.body)


class Subscriber:
    """Answers both handshakes, takes every event, is not there under /missing, and leaves validation to a person under /manual."""

    def __init__(self):
        self._calls = []
        self._changed = threading.Condition()
        subscriber = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_OPTIONS(self):
                self._keep()
                if self.path.startswith("/missing"):
                    return self._answer({}, status=404)
                origin = self.headers["WebHook-Request-Origin"]
                self._answer({"WebHook-Allowed-Origin": origin, "WebHook-Allowed-Rate": "*"})

            def do_POST(self):
                call = self._keep()
                if call.path.startswith("/manual"):
                    self._answer({})
                elif call.headers.get("aeg-event-type") == "SubscriptionValidation":
                    code = call.json()[0]["data"]["validationCode"]
                    self._answer({"Content-Type": "application/json"}, json.dumps({"validationResponse": code}))
                else:
                    self._answer({})

            def _keep(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                call = Call(self.command, self.path, headers, body)
                with subscriber._changed:
                    subscriber._calls.append(call)
                    subscriber._changed.notify_all()
                return call

            def _answer(self, headers, body="", status=200):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path="/api/events"):
        """Its public address, which the emulator's ingress sends to the local port."""
        return f"https://port-{self._server.server_address[1]}.subscriber.example{path}"

    def wait_for(self, matches):
        """The first call that matches, be it there already or still to come."""

        def found():
            return next((call for call in self._calls if matches(call)), None)

        with self._changed:
            call = self._changed.wait_for(found, WAIT_SECONDS)
        assert call, f"nothing came within {WAIT_SECONDS} s that is what was waited for"
        return call

    def calls(self):
        """All calls so far."""
        with self._changed:
            return list(self._calls)

    def delivery(self, event_id):
        """The delivery of the event of that id."""

        def is_it(call):
            if call.headers.get("aeg-event-type") != "Notification":
                return False
            body = call.json()
            return any(event.get("id") == event_id for event in (body if isinstance(body, list) else [body]))

        return self.wait_for(is_it)

    def close(self):
        self._server.shutdown()
        self._server.server_close()
