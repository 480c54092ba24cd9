package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

// systemTopics creates a system topic with an event subscription, and deletes both.
func (w *witness) systemTopics(ctx context.Context) {
	const name = "go-photos"
	client, nested := w.clients.NewSystemTopicsClient(), w.clients.NewSystemTopicEventSubscriptionsClient()
	inGroup := fmt.Sprintf("/subscriptions/%s/resourceGroups/%s/providers", w.SubscriptionID, group)
	id := inGroup + "/Microsoft.EventGrid/systemTopics/" + name
	step("armeventgrid creates a system topic", func() error {
		source := inGroup + "/Microsoft.Storage/storageAccounts/photos"
		wanted := armeventgrid.SystemTopic{Location: to.Ptr(location), Properties: &armeventgrid.SystemTopicProperties{
			Source:    &source,
			TopicType: to.Ptr("Microsoft.Storage.StorageAccounts"),
		}}
		poller, err := client.BeginCreateOrUpdate(ctx, group, name, wanted, nil)
		made, err := finished(ctx, poller, err)
		if err != nil {
			return err
		}
		return errors.Join(
			same("the id", value(made.ID), id),
			same("the source", value(made.Properties.Source), source),
			same("the topic type", value(made.Properties.TopicType), "Microsoft.Storage.StorageAccounts"),
		)
	})
	step("armeventgrid creates an event subscription of a system topic, with a nested id", func() error {
		poller, err := nested.BeginCreateOrUpdate(ctx, group, name, "app", w.subscription("/photos", gridEvents), nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		read, err := nested.Get(ctx, group, name, "app", nil)
		if err != nil {
			return err
		}
		return identified(read.EventSubscription, id+"/eventSubscriptions/app", "Microsoft.EventGrid/systemTopics/eventSubscriptions")
	})
	step("armeventgrid is refused the extension path of a system topic", func() error {
		_, err := w.clients.NewEventSubscriptionsClient().Get(ctx, scope(id), "app", nil)
		if err == nil || !strings.Contains(err.Error(), "not supported using this API call") {
			return fmt.Errorf("no such refusal: %v", err)
		}
		return refused(err, http.StatusBadRequest, "InvalidRequest")
	})
	step("armeventgrid deletes a system topic", func() error {
		subscription, err := nested.BeginDelete(ctx, group, name, "app", nil)
		if _, err := finished(ctx, subscription, err); err != nil {
			return err
		}
		poller, err := client.BeginDelete(ctx, group, name, nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		_, err = client.Get(ctx, group, name, nil)
		return refused(err, http.StatusNotFound, "ResourceNotFound")
	})
}
