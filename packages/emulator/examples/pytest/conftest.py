"""An emulator for each worker of pytest, clean for each test."""

import json
import os
import shlex
import subprocess
import time

import pytest
import requests
from webhook import Webhook


class Emulator:
    """What the emulator wrote when it was ready, and its test interface."""

    def __init__(self, ready):
        self.ready = ready
        self.topic = ready["topics"][0]

    def get(self, name, **query):
        return self._answer(requests.get(f"{self.ready['http']}/emulator/{name}", params=query, timeout=60))

    def post(self, name, **body):
        return self._answer(requests.post(f"{self.ready['http']}/emulator/{name}", json=body, timeout=60))

    def _answer(self, response):
        assert response.ok, response.text
        return response.json() if response.content else None


@pytest.fixture(scope="session")
def webhook():
    with Webhook() as server:
        yield server
        server.shutdown()


@pytest.fixture(scope="session")
def running(tmp_path_factory, webhook):
    """An emulator of this worker, on free ports. Its standard input ends with this process, and so does it."""
    ready = tmp_path_factory.mktemp("emulator") / "ready.json"
    command = shlex.split(os.environ.get("EVENTGRID_EMULATOR", "npx --no-install eventgrid-emulator"))
    command += ["--port", "0", "--http-port", "0", "--ready-file", str(ready), "--until-stdin-ends", "--manual-clock"]
    command += ["--ingress", f"https://shop.example.com/=http://127.0.0.1:{webhook.server_port}/"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        while not ready.exists():
            assert process.poll() is None, "the emulator has ended; standard error says why"
            time.sleep(0.05)
        emulator = Emulator(json.loads(ready.read_text()))
        os.environ.update(emulator.ready["languages"]["python"]["variables"])
        yield emulator


@pytest.fixture
def emulator(running, webhook):
    running.post("reset", resources=True)
    webhook.clear()
    return running
