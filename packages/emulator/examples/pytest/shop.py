"""The application under test: it publishes the orders of a shop."""

from azure.core.messaging import CloudEvent
from azure.eventgrid import EventGridPublisherClient


def place_order(publisher: EventGridPublisherClient, order: str, amount: int) -> None:
    publisher.send(CloudEvent(source="/shop", type="order.placed", subject=f"orders/{order}", data={"amount": amount}))
