"""What a test can ask of the emulator. All of them run in parallel too: pytest -n 4."""

import os

import pytest
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.eventgrid import EventGridPublisherClient
from azure.identity import EnvironmentCredential
from azure.mgmt.eventgrid import EventGridManagementClient, models
from shop import place_order


@pytest.fixture
def publisher(emulator):
    topic = emulator.topic
    return EventGridPublisherClient(topic["endpoint"], AzureKeyCredential(topic["key"]), retry_backoff_factor=0.01)


@pytest.fixture
def subscribe(emulator):
    """Makes an event subscription by Azure's own SDK, as a deployment does."""
    client = EventGridManagementClient(
        EnvironmentCredential(disable_instance_discovery=True),
        os.environ["AZURE_SUBSCRIPTION_ID"],
        base_url=os.environ["AZURE_RESOURCE_MANAGER_URL"],
        polling_interval=0.1,
    )

    def create(name, **properties):
        webhook = models.WebHookEventSubscriptionDestination(endpoint_url="https://shop.example.com/events")
        wanted = models.EventSubscription(
            destination=webhook, event_delivery_schema="CloudEventSchemaV1_0", **properties
        )
        client.event_subscriptions.begin_create_or_update(emulator.topic["id"], name, wanted).result()

    return create


def fates(emulator, order):
    """What became of an order, by event subscription."""
    [event] = emulator.get("events", subject=f"orders/{order}")["events"]
    return {fate["name"]: fate for fate in event["subscriptions"]}


def statuses(fate):
    return [attempt["status"] for attempt in fate["attempts"]]


def test_an_order_is_published(emulator, publisher):
    place_order(publisher, "one", 5)
    [event] = emulator.get("events", topic="orders")["events"]
    assert (event["type"], event["event"]["data"]) == ("order.placed", {"amount": 5})


def test_an_order_is_delivered(emulator, publisher, subscribe, webhook):
    subscribe("billing")
    place_order(publisher, "one", 5)
    emulator.post("settle", timeout="10s")
    assert [event["subject"] for event in webhook.received] == ["orders/one"]


def test_a_refused_order_comes_again_after_30_seconds(emulator, publisher, subscribe, webhook):
    subscribe("billing")
    webhook.answers = [503]
    place_order(publisher, "one", 5)
    emulator.post("clock", advance="29s")
    assert statuses(fates(emulator, "one")["billing"]) == [503]
    emulator.post("clock", advance="10s")
    assert statuses(fates(emulator, "one")["billing"]) == [503, 200]


def test_an_order_that_nobody_takes_is_a_dead_letter(emulator, publisher, subscribe, webhook):
    subscribe("billing", retry_policy=models.RetryPolicy(max_delivery_attempts=2))
    webhook.answers = [500, 500]
    place_order(publisher, "one", 5)
    emulator.post("clock", advance="10m")
    [letter] = emulator.get("dead-letters")["deadLetters"]
    assert (letter["subscription"], letter["reason"]) == ("billing", "MaxDeliveryAttemptsExceeded")
    assert len(webhook.received) == 2


def test_a_filter_takes_large_orders_only(emulator, publisher, subscribe, webhook):
    large = models.NumberGreaterThanAdvancedFilter(key="data.amount", value=100)
    subscribe("large", filter=models.EventSubscriptionFilter(advanced_filters=[large]))
    place_order(publisher, "small", 5)
    place_order(publisher, "large", 500)
    emulator.post("settle", timeout="10s")
    assert fates(emulator, "small")["large"]["state"] == "unmatched"
    assert fates(emulator, "large")["large"]["state"] == "delivered"
    assert [event["subject"] for event in webhook.received] == ["orders/large"]


def test_an_order_is_published_at_the_second_try(emulator, publisher):
    emulator.post("faults", route="topic", status=503)
    place_order(publisher, "one", 5)
    assert [request["status"] for request in emulator.get("requests", route="topic")["requests"]] == [503, 200]


def test_a_wrong_key_is_refused(emulator):
    stranger = EventGridPublisherClient(emulator.topic["endpoint"], AzureKeyCredential("d3Jvbmc="))
    with pytest.raises(HttpResponseError, match="Unauthorized"):
        place_order(stranger, "one", 5)
    assert emulator.get("events")["events"] == []
