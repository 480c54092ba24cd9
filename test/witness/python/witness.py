"""The witness from another language: Azure's SDKs for Python, as they are, against the emulator.

It prints a line of JSON for each thing it has seen to be so, or not. The emulator's addresses come in the environment;
its authority's certificate through REQUESTS_CA_BUNDLE.
"""

import base64
import json
import os
import ssl
import sys
import traceback
import urllib.request
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from unittest import mock

from azure.core.credentials import AzureKeyCredential, AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.core.messaging import CloudEvent
from azure.eventgrid import EventGridConsumerClient, EventGridEvent, EventGridPublisherClient, generate_sas
from azure.identity import ClientSecretCredential
from azure.mgmt.eventgrid import EventGridManagementClient
from azure.mgmt.eventgrid import models
from azure.storage.blob import BlobServiceClient, ContainerSasPermissions, ContentSettings, generate_container_sas

from subscriber import Subscriber

WORLD = json.loads(os.environ["EMULATOR"])
CLOUD, GRID, CUSTOM = WORLD["topics"]["cloud"], WORLD["topics"]["grid"], WORLD["topics"]["custom"]
CONTRIBUTOR, STRANGER = WORLD["contributor"], WORLD["stranger"]

def say(step, error=None):
    print(json.dumps({"step": step, **({"error": error} if error else {})}), flush=True)


@contextmanager
def step(name):
    """Says whether the block did what its name says; the next one is tried all the same."""
    try:
        yield
    except Exception as error:  # whatever it is, it is this step's failure
        traceback.print_exc()
        say(name, f"{type(error).__name__}: {error}"[:400])
    else:
        say(name)


@contextmanager
def refused(kind, *words):
    """The block must be refused with this error, whose text has these words."""
    try:
        yield
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        assert not missing, f"{missing} is not in: {error}"
    else:
        raise AssertionError("it was not refused")


def credential(client=CONTRIBUTOR, secret=None):
    return ClientSecretCredential(
        WORLD["tenantId"],
        client["clientId"],
        secret or client["clientSecret"],
        authority=WORLD["authorityHost"],
        disable_instance_discovery=True,
    )


def management(client=CONTRIBUTOR, subscription_id=WORLD["subscriptionId"]):
    return EventGridManagementClient(
        credential(client), subscription_id, base_url=WORLD["resourceManager"], polling_interval=1
    )


def webhook(url, **properties):
    return models.WebHookEventSubscriptionDestination(endpoint_url=url, **properties)


def subscription(url, schema="CloudEventSchemaV1_0", **properties):
    return models.EventSubscription(destination=webhook(url), event_delivery_schema=schema, **properties)


def credentials_of(topic):
    """Each way to prove that one may publish."""
    expiry = datetime.now(timezone.utc) + timedelta(hours=1)
    return {
        "the key": AzureKeyCredential(topic["key"]),
        "a SAS token": AzureSasCredential(generate_sas(topic["endpoint"], topic["key"], expiry)),
        "an Entra token": credential(),
    }


def entra():
    with step("azure-identity gets a token for a secret"):
        token = credential().get_token("https://management.azure.com/.default")
        assert token.token.count(".") == 2
        assert token.expires_on > datetime.now().timestamp() + 3000
    with step("azure-identity is told AADSTS7000215 for a wrong secret"):
        with refused(ClientAuthenticationError, "AADSTS7000215", "Invalid client secret provided"):
            credential(secret="wrong").get_token("https://management.azure.com/.default")


def arm(subscriber):
    client, scope = management(), CLOUD["id"]
    subscriptions = client.event_subscriptions
    url = subscriber.url("/api/events?code=s3cret")
    attributes = [
        models.StaticDeliveryAttributeMapping(name="X-Plain", value="plain"),
        models.StaticDeliveryAttributeMapping(name="X-Secret", value="s3cret", is_secret=True),
        models.DynamicDeliveryAttributeMapping(name="X-Amount", source_field="data.amount"),
    ]
    wanted = models.EventSubscription(
        destination=webhook(url, delivery_attribute_mappings=attributes),
        event_delivery_schema="CloudEventSchemaV1_0",
        filter=models.EventSubscriptionFilter(
            included_event_types=["Order.Placed"],
            advanced_filters=[models.NumberGreaterThanAdvancedFilter(key="data.amount", value=1)],
        ),
        retry_policy=models.RetryPolicy(max_delivery_attempts=5, event_time_to_live_in_minutes=60),
    )
    with step("azure-mgmt-eventgrid creates an event subscription, and its endpoint is asked by OPTIONS"):
        made = subscriptions.begin_create_or_update(scope, "python", wanted).result(60)
        assert made.provisioning_state == "Succeeded", made.provisioning_state
        asked = subscriber.wait_for(lambda call: call.method == "OPTIONS")
        assert asked.path == "/api/events?code=s3cret", asked.path
        assert asked.headers["webhook-request-origin"] == "eventgrid.azure.net", asked.headers
    with step("azure-mgmt-eventgrid reads it back, without the URL's query and the secret attribute"):
        read = subscriptions.get(scope, "python")
        assert read.destination.endpoint_url is None
        assert read.destination.endpoint_base_url == subscriber.url(), read.destination.endpoint_base_url
        shown = {item.name: item for item in read.destination.delivery_attribute_mappings}
        assert (shown["X-Plain"].value, shown["X-Secret"].value) == ("plain", "Hidden")
        assert shown["X-Amount"].source_field == "data.amount"
        assert read.filter.advanced_filters[0].operator_type == "NumberGreaterThan"
        assert read.retry_policy.max_delivery_attempts == 5
        assert read.topic.endswith("/providers/microsoft.eventgrid/topics/" + CLOUD["name"]), read.topic
    with step("azure-mgmt-eventgrid gets the full URL"):
        assert subscriptions.get_full_url(scope, "python").endpoint_url == url
    with step("azure-mgmt-eventgrid gets the delivery attributes, the secret one too"):
        items = {item.name: item for item in subscriptions.get_delivery_attributes(scope, "python").value}
        assert items["X-Secret"].value == "s3cret" and items["X-Secret"].is_secret
    with step("azure-mgmt-eventgrid updates labels and keeps the rest"):
        patch = models.EventSubscriptionUpdateParameters(labels=["one", "two"])
        changed = subscriptions.begin_update(scope, "python", patch).result(60)
        assert changed.labels == ["one", "two"], changed.labels
        assert subscriptions.get(scope, "python").filter.included_event_types == ["Order.Placed"]
        assert subscriptions.get_full_url(scope, "python").endpoint_url == url
    with step("azure-mgmt-eventgrid lists it by resource, resource group and subscription"):
        group = CLOUD["id"].split("/")[4]
        lists = {
            "resource": subscriptions.list_by_resource(group, "Microsoft.EventGrid", "topics", CLOUD["name"]),
            "regional": subscriptions.list_regional_by_subscription("westeurope"),
            "group": subscriptions.list_regional_by_resource_group(group, "westeurope"),
        }
        for name, found in lists.items():
            assert "python" in [item.name for item in found], name
    with step("azure-mgmt-eventgrid is told why a handshake failed"):
        with refused(HttpResponseError, "Url validation", "Webhook validation handshake failed for", "NotFound"):
            subscriptions.begin_create_or_update(scope, "missing", subscription(subscriber.url("/missing"))).result(60)
    with step("azure-mgmt-eventgrid is told of a bad URL"):
        with refused(HttpResponseError, "InvalidRequest", "proper HTTPS URL"):
            subscriptions.begin_create_or_update(scope, "plain", subscription("http://example.com/")).result(60)
    with step("azure-mgmt-eventgrid raises ResourceNotFoundError for a subscription that is not there"):
        with refused(ResourceNotFoundError, "ResourceNotFound"):
            subscriptions.get(scope, "nobody")
    with step("azure-mgmt-eventgrid is refused without a role"):
        with refused(HttpResponseError, "AuthorizationFailed", "Microsoft.EventGrid/eventSubscriptions/write"):
            management(STRANGER).event_subscriptions.begin_create_or_update(scope, "no", wanted).result(60)


def topics():
    client, group = management(), CLOUD["id"].split("/")[4]
    with step("azure-mgmt-eventgrid makes a topic, and reads and regenerates its keys"):
        topic = client.topics.begin_create_or_update(
            group, "made", models.Topic(location="westeurope", input_schema="CloudEventSchemaV1_0")
        ).result(60)
        assert topic.provisioning_state == "Succeeded" and topic.endpoint.endswith("/api/events"), topic.endpoint
        before = client.topics.list_shared_access_keys(group, "made")
        request = models.TopicRegenerateKeyRequest(key_name="key1")
        after = client.topics.begin_regenerate_key(group, "made", request).result(60)
        assert after.key1 != before.key1 and after.key2 == before.key2
        made = {"endpoint": topic.endpoint, "key": after.key1}
        EventGridPublisherClient(made["endpoint"], AzureKeyCredential(made["key"])).send(
            CloudEvent(source="/made", type="Order.Placed", data={"amount": 5})
        )


def provider():
    with step("azure-mgmt-eventgrid is told that the provider is not registered"):
        client = management(subscription_id=WORLD["unregistered"])
        with refused(ResourceExistsError, "MissingSubscriptionRegistration", "Microsoft.EventGrid"):
            client.topics.begin_create_or_update("rg", "late", models.Topic(location="westeurope")).result(60)


def publish_cloud_events(subscriber):
    for name, proof in credentials_of(CLOUD).items():
        with step(f"azure-eventgrid publishes a CloudEvent with {name}, and it is delivered"):
            event = CloudEvent(source="/orders/1", type="Order.Placed", subject="orders/1", data={"amount": 5, "by": name})
            EventGridPublisherClient(CLOUD["endpoint"], proof).send(event)
            call = subscriber.delivery(str(event.id))
            assert call.headers["content-type"] == "application/cloudevents+json; charset=utf-8"
            assert call.headers["aeg-subscription-name"] == "PYTHON"
            assert (call.headers["x-plain"], call.headers["x-secret"], call.headers["x-amount"]) == ("plain", "s3cret", "5")
            read = CloudEvent.from_dict(call.json())
            assert (read.id, read.source, read.type, read.subject) == (event.id, event.source, event.type, event.subject)
            assert read.data == event.data and read.time == event.time
    with step("azure-eventgrid publishes several at once, and the filter lets pass what it should"):
        small, other, last = [
            CloudEvent(source="/orders/2", type=type, data={"amount": amount})
            for type, amount in [("Order.Placed", 1), ("Order.Changed", 5), ("Order.Placed", 2)]
        ]
        EventGridPublisherClient(CLOUD["endpoint"], AzureKeyCredential(CLOUD["key"])).send([small, other, last])
        subscriber.delivery(last.id)
        assert not [call for call in subscriber._calls if small.id in call.body or other.id in call.body]
    for name, proof in {"key": AzureKeyCredential(base64.b64encode(b"x" * 32).decode()), "SAS token": AzureSasCredential(
        generate_sas(CLOUD["endpoint"], base64.b64encode(b"x" * 32).decode(), datetime.now(timezone.utc) + timedelta(hours=1))
    )}.items():
        with step(f"azure-eventgrid is refused with a wrong {name}"):
            with refused(ClientAuthenticationError, "Unauthorized"):
                EventGridPublisherClient(CLOUD["endpoint"], proof).send(CloudEvent(source="/", type="t"))
    with step("azure-eventgrid is told that a request of 1.7 MB is too large"):
        with refused(HttpResponseError, "maximum size"):
            large = [CloudEvent(source="/orders/4", type="Order.Large", data="x" * 850_000) for _ in range(2)]
            EventGridPublisherClient(CLOUD["endpoint"], AzureKeyCredential(CLOUD["key"]), retry_total=0).send(large)
    with step("azure-eventgrid is refused with a token whose principal has no role"):
        with refused(ClientAuthenticationError, "does not have permission"):
            EventGridPublisherClient(CLOUD["endpoint"], credential(STRANGER)).send(CloudEvent(source="/", type="t"))
    with step("azure-eventgrid publishes bytes, and they are delivered as data_base64"):
        client = management()
        client.event_subscriptions.begin_create_or_update(CLOUD["id"], "bytes", subscription(subscriber.url())).result(60)
        event = CloudEvent(source="/orders/3", type="Order.Blob", data=b"\x00\xff", extensions={"tier": "gold"})
        EventGridPublisherClient(CLOUD["endpoint"], AzureKeyCredential(CLOUD["key"])).send(event)
        read = CloudEvent.from_dict(subscriber.delivery(str(event.id)).json())
        assert read.data == b"\x00\xff" and read.extensions == {"tier": "gold"}, (read.data, read.extensions)


def publish_grid_events(subscriber):
    client = management()
    with step("azure-mgmt-eventgrid subscribes in the Event Grid schema, by a validation event"):
        wanted = subscription(subscriber.url("/grid"), "EventGridSchema")
        client.event_subscriptions.begin_create_or_update(GRID["id"], "grid", wanted).result(60)
        asked = subscriber.wait_for(lambda call: call.headers.get("aeg-event-type") == "SubscriptionValidation")
        event = EventGridEvent.from_dict(asked.json()[0])
        assert event.event_type == "Microsoft.EventGrid.SubscriptionValidationEvent"
        assert event.topic == GRID["id"].replace("Microsoft.EventGrid", "microsoft.eventgrid"), event.topic
    for name, proof in credentials_of(GRID).items():
        with step(f"azure-eventgrid publishes an Event Grid event with {name}, and it is delivered"):
            event = EventGridEvent(subject="orders/1", event_type="Order.Placed", data={"by": name}, data_version="1.0")
            EventGridPublisherClient(GRID["endpoint"], proof).send([event])
            call = subscriber.delivery(str(event.id))
            assert call.headers["content-type"] == "application/json; charset=utf-8"
            [body] = call.json()
            read = EventGridEvent.from_dict(body)
            assert (read.id, read.subject, read.event_type) == (str(event.id), event.subject, event.event_type)
            assert read.data == event.data and read.topic == GRID["id"] and read.data_version == "1.0"
    with step("an Event Grid event is delivered as a CloudEvent where the subscription says so"):
        client.event_subscriptions.begin_create_or_update(GRID["id"], "cloud", subscription(subscriber.url("/cloud"))).result(60)
        event = EventGridEvent(subject="orders/2", event_type="Order.Placed", data={"amount": 5}, data_version="1.0")
        EventGridPublisherClient(GRID["endpoint"], AzureKeyCredential(GRID["key"])).send(event)
        call = subscriber.wait_for(lambda call: call.path == "/cloud" and str(event.id) in call.body)
        read = CloudEvent.from_dict(call.json())
        assert (read.source, read.type, read.subject, read.data) == (GRID["id"], "Order.Placed", "orders/2", {"amount": 5})
    with step("azure-eventgrid is told that CloudEvents don't fit a topic of the Event Grid schema"):
        with refused(HttpResponseError, "BadRequest", "EventGridEvent"):
            EventGridPublisherClient(GRID["endpoint"], AzureKeyCredential(GRID["key"])).send(CloudEvent(source="/", type="t"))


def publish_custom_events(subscriber):
    with step("azure-eventgrid publishes an event of a custom schema, and it is delivered as it is"):
        wanted = subscription(subscriber.url("/custom"), "CustomInputSchema")
        management().event_subscriptions.begin_create_or_update(CUSTOM["id"], "custom", wanted).result(60)
        event = {"number": "c-1", "kind": "Order.Placed", "payload": [1, 2]}
        EventGridPublisherClient(CUSTOM["endpoint"], AzureKeyCredential(CUSTOM["key"])).send(event)
        call = subscriber.wait_for(lambda call: call.path == "/custom" and "c-1" in call.body)
        assert call.json() == [event], call.body


def namespaces():
    client = management()
    group, namespace, topic, queue = "rg", "python-shop", "orders", "app"
    with step("azure-mgmt-eventgrid makes a namespace, a topic of it and a Queue event subscription"):
        wanted = models.Namespace(location="westeurope", sku=models.NamespaceSku(name="Standard", capacity=1))
        client.namespaces.begin_create_or_update(group, namespace, wanted).result(60)
        made = client.namespace_topics.begin_create_or_update(group, namespace, topic, models.NamespaceTopic()).result(60)
        assert made.input_schema == "CloudEventSchemaV1_0" and made.provisioning_state == "Succeeded", made
        delivery = models.DeliveryConfiguration(
            delivery_mode="Queue", queue=models.QueueInfo(receive_lock_duration_in_seconds=60, max_delivery_count=4)
        )
        filters = models.FiltersConfiguration(included_event_types=["order.placed"])
        subscription = models.Subscription(delivery_configuration=delivery, filters_configuration=filters)
        calls = client.namespace_topic_event_subscriptions
        calls.begin_create_or_update(group, namespace, topic, queue, subscription).result(60)
        read = calls.get(group, namespace, topic, queue)
        assert read.delivery_configuration.queue.max_delivery_count == 4, read
        assert [one.name for one in calls.list_by_namespace_topic(group, namespace, topic)] == [queue]
    with step("azure-mgmt-eventgrid changes a namespace, its topic and an event subscription of that"):
        size = models.NamespaceUpdateParameters(tags={"team": "orders"}, sku=models.NamespaceSku(capacity=2))
        changed = client.namespaces.begin_update(group, namespace, size).result(60)
        assert (changed.tags, changed.sku.name, changed.sku.capacity) == ({"team": "orders"}, "Standard", 2), changed
        kept = models.NamespaceTopicUpdateParameters(event_retention_in_days=7)
        assert client.namespace_topics.begin_update(group, namespace, topic, kept).result(60).event_retention_in_days == 7
        longer = models.DeliveryConfiguration(queue=models.QueueInfo(receive_lock_duration_in_seconds=120))
        patch = models.SubscriptionUpdateParameters(delivery_configuration=longer)
        read = calls.begin_update(group, namespace, topic, queue, patch).result(60)
        assert read.delivery_configuration.queue.receive_lock_duration_in_seconds == 120, read
        assert read.filters_configuration.included_event_types == ["order.placed"], read
    hostname = client.namespaces.get(group, namespace).topics_configuration.hostname
    key = client.namespaces.list_shared_access_keys(group, namespace).key1
    endpoint = f"https://{hostname}"
    for name, proof in {"a key": AzureKeyCredential(key), "a token": credential()}.items():
        publisher = EventGridPublisherClient(endpoint, proof, namespace_topic=topic)
        consumer = EventGridConsumerClient(endpoint, proof, namespace_topic=topic, subscription=queue)
        with step(f"azure-eventgrid publishes to a namespace topic with {name}, receives and acknowledges"):
            sent = [CloudEvent(source="/python", type="order.placed", data={"by": name}, extensions={"shop": "eu"}) for _ in range(3)]
            publisher.send([*sent, CloudEvent(source="/python", type="order.paid", data=1)])
            received = consumer.receive(max_events=10, max_wait_time=10)
            assert [one.event.id for one in received] == [event.id for event in sent], received
            assert [one.broker_properties.delivery_count for one in received] == [1, 1, 1]
            assert received[0].event.data == {"by": name} and received[0].event.extensions == {"shop": "eu"}
            tokens = [one.broker_properties.lock_token for one in received]
            answer = consumer.acknowledge(lock_tokens=tokens)
            assert answer.succeeded_lock_tokens == tokens and answer.failed_lock_tokens == []
            again = consumer.acknowledge(lock_tokens=tokens)
            assert again.succeeded_lock_tokens == [] and again.failed_lock_tokens[0].error.code == "TokenLost"
    with step("azure-eventgrid releases, renews and rejects"):
        publisher.send(CloudEvent(source="/python", type="order.placed", data="once more"))
        [first] = consumer.receive(max_events=1, max_wait_time=10)
        consumer.renew_locks(lock_tokens=[first.broker_properties.lock_token])
        consumer.release(lock_tokens=[first.broker_properties.lock_token])
        [second] = consumer.receive(max_events=1, max_wait_time=10)
        assert (second.event.id, second.broker_properties.delivery_count) == (first.event.id, 2)
        rejected = consumer.reject(lock_tokens=[second.broker_properties.lock_token])
        assert len(rejected.succeeded_lock_tokens) == 1
        assert consumer.receive(max_events=1, max_wait_time=10) == []
    with step("azure-eventgrid is refused an unknown topic, an unknown event subscription and a wrong key"):
        with refused(HttpResponseError, "not found"):
            EventGridPublisherClient(endpoint, AzureKeyCredential(key), namespace_topic="nothing").send(
                CloudEvent(source="/python", type="t", data=1)
            )
        with refused(ResourceNotFoundError, "not found"):
            EventGridConsumerClient(endpoint, AzureKeyCredential(key), namespace_topic=topic, subscription="nobody").receive()
        with refused(ClientAuthenticationError):
            EventGridConsumerClient(endpoint, AzureKeyCredential("bm8="), namespace_topic=topic, subscription=queue).receive()
    with step("azure-mgmt-eventgrid deletes a namespace with all that is in it"):
        client.namespaces.begin_delete(group, namespace).result(60)
        with refused(ResourceNotFoundError):
            client.namespaces.get(group, namespace)


def recorded(subscriber):
    """What recordings of Azure show, by the SDKs that they were made with."""
    client, group, scope = management(), CLOUD["id"].split("/")[4], CLOUD["id"]
    with step("azure-mgmt-eventgrid writes a destination without its URL, and the URL is kept"):
        url = subscriber.url("/kept?code=s3cret")
        client.event_subscriptions.begin_create_or_update(scope, "kept", subscription(url)).result(60)
        patch = models.EventSubscriptionUpdateParameters(
            destination=models.WebHookEventSubscriptionDestination(max_events_per_batch=5)
        )
        client.event_subscriptions.begin_update(scope, "kept", patch).result(60)
        assert client.event_subscriptions.get_full_url(scope, "kept").endpoint_url == url
        assert client.event_subscriptions.get(scope, "kept").destination.max_events_per_batch == 5
    with step("azure-mgmt-eventgrid reads an event subscription by its nested path, with a nested id and type, and no systemData"):
        nested = client.topic_event_subscriptions.get(group, CLOUD["name"], "kept")
        assert nested.id == f"{scope}/eventSubscriptions/kept", nested.id
        assert nested.type == "Microsoft.EventGrid/topics/eventSubscriptions", nested.type
        assert nested.system_data is None
    with step("azure-mgmt-eventgrid sees AwaitingManualAction until the validation URL is called"):
        wanted = subscription(subscriber.url("/manual"), "EventGridSchema")
        poller = client.event_subscriptions.begin_create_or_update(GRID["id"], "manual", wanted)
        asked = subscriber.wait_for(lambda call: call.path == "/manual")
        for _ in range(30):
            if poller.status() == "AwaitingManualAction":
                break
            poller.wait(1)
        assert poller.status() == "AwaitingManualAction", poller.status()
        address = asked.json()[0]["data"]["validationUrl"]
        context = ssl.create_default_context(cafile=os.environ["REQUESTS_CA_BUNDLE"])
        urllib.request.urlopen(address, context=context).close()
        assert poller.result(60).provisioning_state == "Succeeded"
    with step("azure-mgmt-eventgrid changes a topic, whose network rules then refuse a publisher"):
        rule = models.InboundIpRule(ip_mask="10.0.0.0/8", action="Allow")
        patch = models.TopicUpdateParameters(tags={"team": "orders"}, inbound_ip_rules=[rule])
        client.topics.begin_update(group, "made", patch).result(60)
        made = client.topics.get(group, "made")
        assert made.tags == {"team": "orders"} and made.inbound_ip_rules[0].ip_mask == "10.0.0.0/8"
        key = AzureKeyCredential(client.topics.list_shared_access_keys(group, "made").key1)
        with refused(HttpResponseError, "IpAddress filtering rules"):
            EventGridPublisherClient(made.endpoint, key).send(CloudEvent(source="/made", type="t"))
    with step("azure-mgmt-eventgrid is refused another location of a topic"):
        with refused(HttpResponseError, "InvalidResourceLocation"):
            client.topics.begin_create_or_update(group, "made", models.Topic(location="northeurope")).result(60)
    azure = f"https://{CLOUD['name']}.westeurope-1.eventgrid.azure.net/api/events"
    for query in ["", "?api-version=2018-01-01"]:
        with step(f"azure-eventgrid publishes to Azure's own host name with a SAS token for {azure}{query}"):
            token = generate_sas(azure + query, CLOUD["key"], datetime.now(timezone.utc) + timedelta(hours=1))
            with mock.patch.dict(os.environ, {"HTTPS_PROXY": WORLD["proxy"], "NO_PROXY": "127.0.0.1"}):
                event = CloudEvent(source="/azure", type="Order.Placed", data={"amount": 5})
                EventGridPublisherClient(azure, AzureSasCredential(token)).send(event)
    with step("azure-mgmt-eventgrid makes a domain, and azure-eventgrid publishes to a topic of it"):
        wanted = models.Domain(location="westeurope", input_schema="CloudEventSchemaV1_0")
        domain = client.domains.begin_create_or_update(group, "python-domain", wanted).result(60)
        lamps = f"{domain.id}/topics/lamps"
        client.event_subscriptions.begin_create_or_update(lamps, "lamps", subscription(subscriber.url("/lamps"))).result(60)
        assert [one.name for one in client.domain_topics.list_by_domain(group, "python-domain")] == ["lamps"]
        key = client.domains.list_shared_access_keys(group, "python-domain").key1
        event = CloudEvent(source="lamps", type="Order.Placed", data=1)
        EventGridPublisherClient(domain.endpoint, AzureKeyCredential(key)).send(event)
        subscriber.delivery(str(event.id))
        client.domains.begin_delete(group, "python-domain").result(60)
    with step("azure-mgmt-eventgrid makes a system topic with an event subscription, and is refused its extension path"):
        source = f"{CLOUD['id'].split('/providers/')[0]}/providers/Microsoft.Storage/storageAccounts/photos"
        wanted = models.SystemTopic(location="westeurope", source=source, topic_type="Microsoft.Storage.StorageAccounts")
        made = client.system_topics.begin_create_or_update(group, "photos", wanted).result(60)
        nested = client.system_topic_event_subscriptions
        nested.begin_create_or_update(group, "photos", "app", subscription(subscriber.url("/photos"))).result(60)
        assert nested.get(group, "photos", "app").id == f"{made.id}/eventSubscriptions/app"
        with refused(HttpResponseError, "not supported using this API call"):
            client.event_subscriptions.get(made.id, "app")
        nested.begin_delete(group, "photos", "app").result(60)
        client.system_topics.begin_delete(group, "photos").result(60)


def blobs(subscriber):
    account = WORLD["storage"]
    client = management().event_subscriptions
    filters = models.EventSubscriptionFilter(
        subject_begins_with="/blobServices/default/containers/python/",
        advanced_filters=[models.StringNotInAdvancedFilter(key="data.api", values=["SetBlobTier"])],
    )
    wanted = subscription(subscriber.url("/blobs"), filter=filters)
    client.begin_create_or_update(account["id"], "python-blobs", wanted).result(60)

    def event(name, kind, api):
        """The event of a blob."""

        def is_it(call):
            if call.path != "/blobs" or call.headers.get("aeg-event-type") != "Notification":
                return False
            one = call.json()
            ends = one["subject"].endswith(f"/blobs/{name}")
            return ends and one["type"] == f"Microsoft.Storage.{kind}" and one["data"]["api"] == api

        one = subscriber.wait_for(is_it).json()
        assert one["source"] == account["id"], one
        return one["data"]

    def service(key):
        return BlobServiceClient(account["blobEndpoint"], credential=key, retry_total=0, max_single_put_size=1000, max_block_size=1000)

    uploads = service(account["key"]).create_container("python")
    with step("azure-storage-blob uploads a blob, and the event subscription of the account gets BlobCreated"):
        made = uploads.upload_blob("one", b"hello", content_settings=ContentSettings(content_type="text/plain"))
        data = event("one", "BlobCreated", "PutBlob")
        assert (data["contentLength"], data["contentType"], data["blobType"]) == (5, "text/plain", "BlockBlob"), data
        assert data["eTag"] == made.get_blob_properties().etag.strip('"'), data
        assert data["url"] == made.url, data
    with step("azure-storage-blob uploads in blocks, and the event has the length of all"):
        uploads.upload_blob("two", b"x" * 2500)
        assert event("two", "BlobCreated", "PutBlockList")["contentLength"] == 2500
    with step("azure-storage-blob copies a blob"):
        copy = uploads.get_blob_client("three")
        assert copy.start_copy_from_url(uploads.get_blob_client("one").url)["copy_status"] == "success"
        assert event("three", "BlobCreated", "CopyBlob")["contentType"] == "text/plain"
    with step("azure-storage-blob uploads with a shared access signature alone"):
        later = datetime.now(timezone.utc) + timedelta(hours=1)
        allowed = ContainerSasPermissions(read=True, write=True)
        signature = generate_container_sas(uploads.account_name, "python", account_key=account["key"], permission=allowed, expiry=later)
        service(signature).get_blob_client("python", "four").upload_blob(b"hello")
        event("four", "BlobCreated", "PutBlob")
    with step("azure-storage-blob is refused with a wrong key, and nothing is raised"):
        wrong = service(base64.b64encode(b"wrong").decode())
        with refused(HttpResponseError, "AuthorizationFailure"):
            wrong.get_blob_client("python", "five").upload_blob(b"hello")
        with refused(ResourceExistsError, "BlobAlreadyExists"):
            uploads.upload_blob("one", b"again")
    with step("azure-storage-blob deletes one blob, and several in a batch"):
        uploads.delete_blob("one")
        assert "contentLength" not in event("one", "BlobDeleted", "DeleteBlob")
        uploads.delete_blobs("two", "three")
        for name in ["two", "three"]:
            event(name, "BlobDeleted", "DeleteBlob")
    with step("azure-storage-blob has raised nothing else"):
        uploads.upload_blob("last", b"")
        event("last", "BlobCreated", "PutBlob")
        seen = [call.json() for call in subscriber.calls() if call.path == "/blobs" and call.method == "POST"]
        assert len(seen) == 8, [(one["type"], one["subject"]) for one in seen]
    client.begin_delete(account["id"], "python-blobs").result(60)


def remove():
    client = management().event_subscriptions
    with step("azure-mgmt-eventgrid deletes an event subscription"):
        client.begin_delete(CLOUD["id"], "python").result(60)
        with refused(ResourceNotFoundError):
            client.get(CLOUD["id"], "python")


def main():
    subscriber = Subscriber()
    entra()
    arm(subscriber)
    topics()
    provider()
    publish_cloud_events(subscriber)
    publish_grid_events(subscriber)
    publish_custom_events(subscriber)
    namespaces()
    recorded(subscriber)
    blobs(subscriber)
    remove()
    subscriber.close()


main()
sys.exit(0)
