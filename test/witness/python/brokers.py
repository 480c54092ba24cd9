"""What programs with Azure's SDK for Python get of the messages that the emulator sent to Service Bus.

This SDK has an implementation of AMQP of its own. It prints a line of JSON for each thing it has seen to be so, or not.
"""

import json
import os
import traceback
import uuid
from contextlib import contextmanager

from azure.servicebus import ServiceBusClient, ServiceBusReceiveMode

CONNECTION = os.environ["CONNECTION_STRING"]
EVENT = json.loads(os.environ["EVENT"])


@contextmanager
def step(name):
    try:
        yield
        print(json.dumps({"step": name}), flush=True)
    except Exception:
        print(json.dumps({"step": name, "error": traceback.format_exc()}), flush=True)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def expect(got, wanted):
    assert got == wanted, (got, wanted)


def properties_of(given):
    """The system's properties are there in the spelling of the pages; returns all."""
    found = {text(name): text(value) for name, value in (given or {}).items()}
    expect(found["aeg-event-type"], "Notification")
    expect(found["aeg-delivery-count"], "0")
    uuid.UUID(found["aeg-output-event-id"])
    return found


def service_bus(kind, open_receiver):
    with step(f"azure-servicebus reads the event of a {kind} as an object, with its properties"):
        with ServiceBusClient.from_connection_string(CONNECTION) as client:
            with open_receiver(client) as receiver:
                [message] = receiver.receive_messages(max_message_count=1, max_wait_time=20)
                expect(json.loads(b"".join(message.body)), EVENT)
                expect(message.content_type, "application/cloudevents+json; charset=utf-8")
                expect(message.session_id, "Order.Placed")
                found = properties_of(message.application_properties)
                expect(found["aeg-subscription-name"], kind.upper())
                expect(message.message_id, found["aeg-output-event-id"])
                expect(found["shop"], "café")


MODE = ServiceBusReceiveMode.RECEIVE_AND_DELETE
service_bus("queue", lambda client: client.get_queue_receiver("orders", receive_mode=MODE))
service_bus("topic", lambda client: client.get_subscription_receiver("news", "all", receive_mode=MODE))
