package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/messaging"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/azeventgrid"
)

// Requests are answered as they are, not sent again.
var once = policy.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}

func byKey(endpoint, key string) *azeventgrid.Client {
	options := &azeventgrid.ClientOptions{ClientOptions: once}
	client, err := azeventgrid.NewClientWithSharedKeyCredential(endpoint, azcore.NewKeyCredential(key), options)
	must(err)
	return client
}

func bySAS(endpoint, token string, how policy.ClientOptions) *azeventgrid.Client {
	options := &azeventgrid.ClientOptions{ClientOptions: how}
	client, err := azeventgrid.NewClientWithSAS(endpoint, azcore.NewSASCredential(token), options)
	must(err)
	return client
}

func (w *witness) byToken(endpoint string) *azeventgrid.Client {
	client, err := azeventgrid.NewClient(endpoint, w.credential, &azeventgrid.ClientOptions{ClientOptions: once})
	must(err)
	return client
}

// throughProxy sends requests for Azure's host names to the emulator.
func (w *witness) throughProxy() policy.ClientOptions {
	proxy, err := url.Parse(w.Proxy)
	must(err)
	options := once
	options.Transport = &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	return options
}

// sasToken gives access to a resource for an hour. The SDK takes such a token, and has no function that makes one.
func sasToken(resource, key string) string {
	secret, err := base64.StdEncoding.DecodeString(key)
	must(err)
	expiry := time.Now().UTC().Add(time.Hour).Format(time.RFC3339)
	signed := "r=" + url.QueryEscape(resource) + "&e=" + url.QueryEscape(expiry)
	signature := hmac.New(sha256.New, secret)
	signature.Write([]byte(signed))
	return signed + "&s=" + url.QueryEscape(base64.StdEncoding.EncodeToString(signature.Sum(nil)))
}

// publishCloudEvent publishes an event of this source, and says its id.
func publishCloudEvent(ctx context.Context, client *azeventgrid.Client, source string) (string, error) {
	options := &messaging.CloudEventOptions{Subject: to.Ptr("orders/1"), DataContentType: to.Ptr("application/json")}
	event, err := messaging.NewCloudEvent(source, "Order.Placed", map[string]any{"amount": 5}, options)
	must(err)
	_, err = client.PublishCloudEvents(ctx, []messaging.CloudEvent{event}, nil)
	return event.ID, err
}

// gridEvent is an event of the Event Grid schema; only that of a domain names its topic.
func gridEvent(id string, topic *string) azeventgrid.Event {
	return azeventgrid.Event{
		ID:          &id,
		Topic:       topic,
		Subject:     to.Ptr("orders/1"),
		EventType:   to.Ptr("Order.Placed"),
		EventTime:   to.Ptr(time.Now()),
		DataVersion: to.Ptr("1.0"),
		Data:        map[string]any{"amount": 5},
	}
}

// arrived waits for an event: at this path, with its data.
func (w *witness) arrived(ctx context.Context, id, path string) (map[string]any, error) {
	found, event, err := w.webhook.delivery(ctx, id)
	if err != nil {
		return nil, err
	}
	return event, errors.Join(same("the path", found, path), same("the data", fmt.Sprint(event["data"]), "map[amount:5]"))
}

// publishing publishes to both topics, by each credential.
func (w *witness) publishing(ctx context.Context) {
	azure := fmt.Sprintf("https://%s.%s-1.eventgrid.azure.net/api/events", w.Cloud.Name, location)
	const version = "?api-version=2018-01-01"
	for _, way := range []struct {
		name   string
		client *azeventgrid.Client
	}{
		{"the key", byKey(w.Cloud.Endpoint, w.Cloud.Key)},
		{"a SAS token", bySAS(w.Cloud.Endpoint, sasToken(w.Cloud.Endpoint, w.Cloud.Key), once)},
		{"an Entra token", w.byToken(w.Cloud.Endpoint)},
		{"a SAS token for Azure's own host name", bySAS(azure, sasToken(azure, w.Cloud.Key), w.throughProxy())},
		{"a SAS token for Azure's own host name and api-version", bySAS(azure, sasToken(azure+version, w.Cloud.Key), w.throughProxy())},
	} {
		step("azeventgrid publishes a CloudEvent with "+way.name+", and it is delivered", func() error {
			id, err := publishCloudEvent(ctx, way.client, "/go")
			if err != nil {
				return err
			}
			event, err := w.arrived(ctx, id, "/app")
			return errors.Join(err, same("the source", event["source"], any("/go")), same("the type", event["type"], any("Order.Placed")))
		})
	}
	step("azeventgrid is refused a wrong key", func() error {
		_, err := publishCloudEvent(ctx, byKey(w.Cloud.Endpoint, "d3Jvbmc="), "/go")
		return refused(err, http.StatusUnauthorized, "Unauthorized")
	})
	step("azeventgrid is refused a topic's host name in another region", func() error {
		elsewhere := fmt.Sprintf("https://%s.northeurope-1.eventgrid.azure.net/api/events", w.Cloud.Name)
		_, err := publishCloudEvent(ctx, bySAS(elsewhere, sasToken(elsewhere, w.Cloud.Key), w.throughProxy()), "/go")
		return refused(err, http.StatusNotFound, "NotFound")
	})
	step("azeventgrid publishes an event of the Event Grid schema, and it is delivered", func() error {
		_, err := byKey(w.Grid.Endpoint, w.Grid.Key).PublishEvents(ctx, []azeventgrid.Event{gridEvent("go-grid", nil)}, nil)
		if err != nil {
			return err
		}
		event, err := w.arrived(ctx, "go-grid", "/manual")
		return errors.Join(err, same("the topic", event["topic"], any(w.Grid.ID)))
	})
}
