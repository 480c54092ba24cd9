package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/azeventgrid"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

// domains creates a domain with two topics, publishes to both and deletes it.
func (w *witness) domains(ctx context.Context) {
	const name = "go-domain"
	client, topics := w.clients.NewDomainsClient(), w.clients.NewDomainTopicsClient()
	var id string
	step("armeventgrid creates a domain", func() error {
		wanted := armeventgrid.Domain{Location: to.Ptr(location), Properties: &armeventgrid.DomainProperties{
			InputSchema: to.Ptr(armeventgrid.InputSchemaEventGridSchema),
		}}
		poller, err := client.BeginCreateOrUpdate(ctx, group, name, wanted, nil)
		made, err := finished(ctx, poller, err)
		id = value(made.ID)
		if err != nil {
			return err
		}
		return errors.Join(
			same("the type", value(made.Type), "Microsoft.EventGrid/domains"),
			same("an endpoint", made.Properties.Endpoint != nil, true),
			same("the state", value(made.Properties.ProvisioningState), armeventgrid.DomainProvisioningStateSucceeded),
		)
	})
	step("armeventgrid creates a domain topic, and the event subscription of another one creates that", func() error {
		poller, err := topics.BeginCreateOrUpdate(ctx, group, name, "lamps", nil)
		lamps, err := finished(ctx, poller, err)
		if err != nil {
			return err
		}
		made, err := w.subscribeToDomainTopics(ctx, id, name)
		if err != nil {
			return err
		}
		names, err := domainTopics(ctx, topics, name)
		return errors.Join(
			err,
			same("the id of lamps", value(lamps.ID), id+"/topics/lamps"),
			same("the topics", fmt.Sprint(names), "[chairs lamps]"),
			identified(made, id+"/topics/chairs/eventSubscriptions/chairs", "Microsoft.EventGrid/domains/topics/eventSubscriptions"),
		)
	})
	step("azeventgrid publishes to a domain with its key, and each event is delivered for its domain topic", func() error {
		domain, err := client.Get(ctx, group, name, nil)
		if err != nil {
			return err
		}
		keys, err := client.ListSharedAccessKeys(ctx, group, name, nil)
		if err != nil {
			return err
		}
		publisher := byKey(value(domain.Properties.Endpoint), value(keys.Key1))
		both := []azeventgrid.Event{gridEvent("go-lamp", to.Ptr("lamps")), gridEvent("go-chair", to.Ptr("chairs"))}
		if _, err := publisher.PublishEvents(ctx, both, nil); err != nil {
			return err
		}
		lamp, lampErr := w.arrived(ctx, "go-lamp", "/lamps")
		chair, chairErr := w.arrived(ctx, "go-chair", "/chairs")
		return errors.Join(
			lampErr, chairErr,
			same("the topic of the lamp", lamp["topic"], any(id+"/topics/lamps")),
			same("the topic of the chair", chair["topic"], any(id+"/topics/chairs")),
		)
	})
	step("armeventgrid deletes a domain with its topics", func() error {
		poller, err := client.BeginDelete(ctx, group, name, nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		_, err = topics.Get(ctx, group, name, "lamps", nil)
		return refused(err, http.StatusNotFound, "ParentResourceNotFound")
	})
}

// subscribeToDomainTopics creates an event subscription of lamps at the extension path, and one of chairs, which it answers, at the
// nested path.
func (w *witness) subscribeToDomainTopics(ctx context.Context, domain, name string) (armeventgrid.EventSubscription, error) {
	extension, nested := w.clients.NewEventSubscriptionsClient(), w.clients.NewDomainTopicEventSubscriptionsClient()
	lamps, err := extension.BeginCreateOrUpdate(ctx, scope(domain)+"/topics/lamps", "lamps", w.subscription("/lamps", gridEvents), nil)
	if _, err := finished(ctx, lamps, err); err != nil {
		return armeventgrid.EventSubscription{}, err
	}
	chairs, err := nested.BeginCreateOrUpdate(ctx, group, name, "chairs", "chairs", w.subscription("/chairs", gridEvents), nil)
	made, err := finished(ctx, chairs, err)
	return made.EventSubscription, err
}

// domainTopics lists the names of a domain's topics, in order.
func domainTopics(ctx context.Context, client *armeventgrid.DomainTopicsClient, domain string) ([]string, error) {
	var names []string
	for pager := client.NewListByDomainPager(group, domain, nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, one := range page.Value {
			names = append(names, value(one.Name))
		}
	}
	slices.Sort(names)
	return names, nil
}
