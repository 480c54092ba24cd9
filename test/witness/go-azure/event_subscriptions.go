package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

const (
	cloudEvents = armeventgrid.EventDeliverySchemaCloudEventSchemaV10
	gridEvents  = armeventgrid.EventDeliverySchemaEventGridSchema
)

// scope is a resource id as the SDK puts it into a path.
func scope(id string) string {
	return strings.TrimPrefix(id, "/")
}

// subscription delivers to a path of the webhook.
func (w *witness) subscription(path string, schema armeventgrid.EventDeliverySchema) armeventgrid.EventSubscription {
	webhook := &armeventgrid.WebHookEventSubscriptionDestinationProperties{EndpointURL: to.Ptr(w.webhook.url(path))}
	return armeventgrid.EventSubscription{Properties: &armeventgrid.EventSubscriptionProperties{
		Destination:         &armeventgrid.WebHookEventSubscriptionDestination{Properties: webhook},
		EventDeliverySchema: &schema,
	}}
}

// webhookOf is the destination that an answer shows.
func webhookOf(one armeventgrid.EventSubscription) armeventgrid.WebHookEventSubscriptionDestinationProperties {
	destination, isWebhook := one.Properties.Destination.(*armeventgrid.WebHookEventSubscriptionDestination)
	if !isWebhook {
		return armeventgrid.WebHookEventSubscriptionDestinationProperties{}
	}
	return value(destination.Properties)
}

// identified compares id and type of an event subscription.
func identified(one armeventgrid.EventSubscription, id, kind string) error {
	return errors.Join(
		same("the id", value(one.ID), id),
		same("the type", value(one.Type), kind),
		same("the state", value(one.Properties.ProvisioningState), armeventgrid.EventSubscriptionProvisioningStateSucceeded),
		same("systemData", one.SystemData, nil),
	)
}

// eventSubscriptions creates event subscriptions of topics, and changes them.
func (w *witness) eventSubscriptions(ctx context.Context) {
	client, nested := w.clients.NewEventSubscriptionsClient(), w.clients.NewTopicEventSubscriptionsClient()
	extension := w.Cloud.ID + "/providers/Microsoft.EventGrid/eventSubscriptions/app"
	step("armeventgrid creates an event subscription at its extension path", func() error {
		poller, err := client.BeginCreateOrUpdate(ctx, scope(w.Cloud.ID), "app", w.subscription("/app?code=s3cret", cloudEvents), nil)
		made, err := finished(ctx, poller, err)
		if err != nil {
			return err
		}
		shown := webhookOf(made.EventSubscription)
		return errors.Join(
			identified(made.EventSubscription, extension, "Microsoft.EventGrid/eventSubscriptions"),
			same("the URL", value(shown.EndpointURL), ""),
			same("the URL without its query", value(shown.EndpointBaseURL), w.webhook.url("/app")),
		)
	})
	step("armeventgrid reads and creates event subscriptions at the nested path, with nested ids", func() error {
		const kind = "Microsoft.EventGrid/topics/eventSubscriptions"
		app, err := nested.Get(ctx, group, w.Cloud.Name, "app", nil)
		if err != nil {
			return err
		}
		poller, err := nested.BeginCreateOrUpdate(ctx, group, w.Cloud.Name, "nested", w.subscription("/nested", cloudEvents), nil)
		made, err := finished(ctx, poller, err)
		if err != nil {
			return err
		}
		return errors.Join(
			identified(app.EventSubscription, w.Cloud.ID+"/eventSubscriptions/app", kind),
			identified(made.EventSubscription, w.Cloud.ID+"/eventSubscriptions/nested", kind),
		)
	})
	step("armeventgrid deletes an event subscription at the nested path", func() error {
		poller, err := nested.BeginDelete(ctx, group, w.Cloud.Name, "nested", nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		_, err = client.Get(ctx, scope(w.Cloud.ID), "nested", nil)
		return refused(err, http.StatusNotFound, "ResourceNotFound")
	})
	step("armeventgrid writes a destination without its URL, and the URL is kept", func() error {
		batch := &armeventgrid.WebHookEventSubscriptionDestinationProperties{MaxEventsPerBatch: to.Ptr[int32](5)}
		patch := armeventgrid.EventSubscriptionUpdateParameters{
			Destination: &armeventgrid.WebHookEventSubscriptionDestination{Properties: batch},
		}
		poller, err := client.BeginUpdate(ctx, scope(w.Cloud.ID), "app", patch, nil)
		updated, err := finished(ctx, poller, err)
		if err != nil {
			return err
		}
		full, err := client.GetFullURL(ctx, scope(w.Cloud.ID), "app", nil)
		return errors.Join(
			err,
			same("the URL", value(full.EndpointURL), w.webhook.url("/app?code=s3cret")),
			same("events in a batch", value(webhookOf(updated.EventSubscription).MaxEventsPerBatch), 5),
		)
	})
	step("armeventgrid is told that a topic does not exist when it subscribes to it", func() error {
		_, err := nested.BeginCreateOrUpdate(ctx, group, "nothing", "app", w.subscription("/app", cloudEvents), nil)
		return refused(err, http.StatusNotFound, "ParentResourceNotFound")
	})
	step("armeventgrid sees AwaitingManualAction until the validation URL is called", func() error { return w.manual(ctx) })
}

// manual creates an event subscription whose webhook answers without the validation code, and calls the validation URL in its place.
func (w *witness) manual(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	client := w.clients.NewEventSubscriptionsClient()
	poller, err := client.BeginCreateOrUpdate(ctx, scope(w.Grid.ID), "manual", w.subscription("/manual", gridEvents), nil)
	if err != nil {
		return err
	}
	asked, err := w.webhook.wait(ctx, func(one call) bool { return one.path == "/manual" })
	if err != nil {
		return err
	}
	if err := awaits(ctx, poller, "AwaitingManualAction"); err != nil {
		return err
	}
	answer, err := http.Get(fmt.Sprint(asked.validation()["validationUrl"]))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	made, err := finished(ctx, poller, nil)
	if err != nil {
		return err
	}
	return errors.Join(
		same("the status of the validation URL", answer.StatusCode, http.StatusOK),
		same("the state", value(made.Properties.ProvisioningState), armeventgrid.EventSubscriptionProvisioningStateSucceeded),
	)
}

// awaits asks for an operation's status until it is the wanted one.
func awaits[T any](ctx context.Context, poller *runtime.Poller[T], wanted string) error {
	for {
		answer, err := poller.Poll(ctx)
		if err != nil {
			return err
		}
		var operation struct{ Status string }
		if err := runtime.UnmarshalAsJSON(answer, &operation); err != nil {
			return err
		}
		if operation.Status == wanted {
			return nil
		}
		if poller.Done() {
			return fmt.Errorf("it ended as %s without %s", operation.Status, wanted)
		}
	}
}
