"""The subscriber: consents to the handshake, keeps what it gets, and answers as a test wants it to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Webhook(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.clear()

    def clear(self):
        self.received = []  # the events
        self.answers = []  # the next statuses; 200 after them


class Handler(BaseHTTPRequestHandler):
    def do_OPTIONS(self):
        self.send_response(200)
        self.send_header("WebHook-Allowed-Origin", self.headers["WebHook-Request-Origin"])
        self.end_headers()

    def do_POST(self):
        self.server.received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.answers.pop(0) if self.server.answers else 200)
        self.end_headers()

    def log_message(self, *_):
        """Says nothing: the emulator knows each attempt."""
