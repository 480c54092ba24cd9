"""A Functions host with Event Grid triggers: the host's part by hand, functions and their events by Microsoft's azure-functions.

It writes its port, and then a line of JSON for each run of a function; it ends with its standard input.
The host's part follows EventGridExtensionConfigProvider of azure-functions-eventgrid-extension: what it answers, and one run for each event.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import azure.functions as func
from azure.functions.eventgrid import EventGridEventInConverter
from azure.functions.meta import Datum

app = func.FunctionApp()
SYSTEM_KEY = "a-key/of the host"


@app.function_name("grid")
@app.event_grid_trigger(arg_name="event")
def grid(event: func.EventGridEvent):
    told = {"id": event.id, "type": event.event_type, "subject": event.subject, "topic": event.topic}
    tell("grid", {**told, "version": event.data_version, "year": event.event_time.year, "data": event.get_json()})


@app.function_name("cloud")
@app.event_grid_trigger(arg_name="event")
def cloud(event: func.CloudEvent):
    tell("cloud", {"id": event.id, "type": event.type, "source": event.source, "data": event.get_json()})


@app.function_name("fails")
@app.event_grid_trigger(arg_name="event")
def fails(event: func.CloudEvent):
    raise RuntimeError(f"no {event.id} today")


FUNCTIONS = {one.get_function_name(): one.get_user_function() for one in app.get_functions()}
LOCK = threading.Lock()


def tell(function, event):
    with LOCK:
        print(json.dumps({"function": function, "event": event}), flush=True)


class Host(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, text = self._answer_to(urlsplit(self.path), body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _answer_to(self, url, body):
        query = parse_qs(url.query)
        [name] = query.get("functionName", [""])
        if url.path.lower() != "/runtime/webhooks/eventgrid":
            return 404, b""
        if query.get("code") != [SYSTEM_KEY]:
            return 401, b""
        if name not in FUNCTIONS:
            return 404, f"cannot find function: '{name}'".encode()
        if self.headers.get("aeg-event-type") != "Notification":
            return 400, b""
        events = json.loads(body)
        for event in events if isinstance(events, list) else [events]:
            try:
                datum = Datum(type="json", value=json.dumps(event))
                FUNCTIONS[name](EventGridEventInConverter.decode(datum, trigger_metadata={}))
            except Exception as error:
                return 500, f"Exception while executing function: {name}: {error}".encode()
        return 202, b""

    def log_message(self, *_):
        pass


host = ThreadingHTTPServer(("127.0.0.1", 0), Host)
threading.Thread(target=host.serve_forever, daemon=True).start()
print(json.dumps({"port": host.server_address[1]}), flush=True)
sys.stdin.read()
host.shutdown()
