package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/hashicorp/go-azure-helpers/resourcemanager/identity"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/domains"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/domaintopics"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/eventsubscriptions"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/namespaces"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/namespacetopics"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/systemtopics"
	"github.com/hashicorp/go-azure-sdk/resource-manager/eventgrid/2025-02-15/topics"
)

const location = "northeurope"

var tags = &map[string]string{"for": "us"}

// gone is an error where a read finds what was deleted.
func gone(response *http.Response, err error) error {
	if response != nil && response.StatusCode == http.StatusNotFound {
		return nil
	}
	return fmt.Errorf("it is still there: %v", err)
}

func (w *witness) subscriptionClient() *eventsubscriptions.EventSubscriptionsClient {
	client, err := eventsubscriptions.NewEventSubscriptionsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	return client
}

// wanted is an event subscription as azurerm writes it: with an empty expiration time.
func (w *witness) wanted(schema eventsubscriptions.EventDeliverySchema) eventsubscriptions.EventSubscription {
	secret := eventsubscriptions.StaticDeliveryAttributeMapping{
		Name: to("X-Key"), Properties: &eventsubscriptions.StaticDeliveryAttributeMappingProperties{Value: to("plain"), IsSecret: to(false)},
	}
	return eventsubscriptions.EventSubscription{Properties: &eventsubscriptions.EventSubscriptionProperties{
		Destination: eventsubscriptions.WebHookEventSubscriptionDestination{
			Properties: &eventsubscriptions.WebHookEventSubscriptionDestinationProperties{
				EndpointURL:               to(w.Webhook + "?code=secret"),
				DeliveryAttributeMappings: &[]eventsubscriptions.DeliveryAttributeMapping{secret},
			},
		},
		EventDeliverySchema: to(schema),
		ExpirationTimeUtc:   to(""),
		Filter: &eventsubscriptions.EventSubscriptionFilter{
			SubjectBeginsWith:               to("/orders"),
			EnableAdvancedFilteringOnArrays: to(false),
			AdvancedFilters:                 &[]eventsubscriptions.AdvancedFilter{},
		},
		RetryPolicy: &eventsubscriptions.RetryPolicy{MaxDeliveryAttempts: to(int64(5)), EventTimeToLiveInMinutes: to(int64(60))},
		Labels:      &[]string{"one"},
	}}
}

// subscribe makes, reads, changes and deletes an event subscription of a source.
func (w *witness) subscribe(ctx context.Context, what, scope string) {
	client := w.subscriptionClient()
	id := eventsubscriptions.NewScopedEventSubscriptionID(scope, "hashicorp")
	wanted := w.wanted(eventsubscriptions.EventDeliverySchemaCloudEventSchemaVOneZero)
	step("an event subscription of "+what+" is made, and read without drift", func() error {
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		if err != nil {
			return err
		}
		url, err := client.GetFullURL(ctx, id)
		if err != nil {
			return err
		}
		return errors.Join(drift(wanted, read.Model), differences("the URL", w.Webhook+"?code=secret", *url.Model.EndpointURL))
	})
	step("an event subscription of "+what+" is changed", func() error {
		change := eventsubscriptions.EventSubscriptionUpdateParameters{Labels: &[]string{"two"}}
		if err := client.UpdateThenPoll(ctx, id, change); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, differences("the label", "two", (*read.Model.Properties.Labels)[0]))
	})
	step("an event subscription of "+what+" is deleted", func() error {
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}

func (w *witness) topics(ctx context.Context) {
	client, err := topics.NewTopicsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	id := topics.NewTopicID(w.SubscriptionID, group, "hashicorp-topic")
	step("a topic is made, and read without drift", func() error {
		wanted := topics.Topic{
			Location: location,
			Identity: &identity.SystemAndUserAssignedMap{Type: identity.TypeSystemAssigned},
			Tags:     &map[string]string{"for": "test"},
			Properties: &topics.TopicProperties{
				InputSchema:              to(topics.InputSchemaCloudEventSchemaVOneZero),
				DisableLocalAuth:         to(false),
				MinimumTlsVersionAllowed: to(topics.TlsVersionOnePointTwo),
				PublicNetworkAccess:      to(topics.PublicNetworkAccessEnabled),
				InboundIPRules:           &[]topics.InboundIPRule{},
			},
		}
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		if err != nil {
			return err
		}
		if read.Model.Identity.PrincipalId == "" || read.Model.Identity.TenantId != w.TenantID {
			return fmt.Errorf("its identity is %+v", read.Model.Identity)
		}
		wanted.Identity = nil
		return drift(wanted, read.Model)
	})
	step("a topic is changed", func() error {
		if err := client.UpdateThenPoll(ctx, id, topics.TopicUpdateParameters{Tags: tags}); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, differences("tag", "us", (*read.Model.Tags)["for"]))
	})
	w.subscribe(ctx, "a topic", id.ID())
	step("a topic is deleted", func() error {
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}

func (w *witness) domains(ctx context.Context) {
	client, err := domains.NewDomainsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	id := domains.NewDomainID(w.SubscriptionID, group, "hashicorp-domain")
	step("a domain is made, and read without drift", func() error {
		wanted := domains.Domain{Location: location, Properties: &domains.DomainProperties{
			InputSchema:                          to(domains.InputSchemaCloudEventSchemaVOneZero),
			AutoCreateTopicWithFirstSubscription: to(true),
			AutoDeleteTopicWithLastSubscription:  to(false),
			PublicNetworkAccess:                  to(domains.PublicNetworkAccessEnabled),
		}}
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, drift(wanted, read.Model))
	})
	step("a domain is changed", func() error {
		if err := client.UpdateThenPoll(ctx, id, domains.DomainUpdateParameters{Tags: tags}); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, differences("tag", "us", (*read.Model.Tags)["for"]))
	})
	own, err := domaintopics.NewDomainTopicsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(own.Client, err)
	topic := domaintopics.NewDomainTopicID(w.SubscriptionID, group, "hashicorp-domain", "one")
	step("a domain topic is made, read and deleted", func() error {
		if err := own.CreateOrUpdateThenPoll(ctx, topic); err != nil {
			return err
		}
		if _, err := own.Get(ctx, topic); err != nil {
			return err
		}
		if err := own.DeleteThenPoll(ctx, topic); err != nil {
			return err
		}
		read, err := own.Get(ctx, topic)
		return gone(read.HttpResponse, err)
	})
	step("a domain is deleted", func() error {
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}

func (w *witness) systemTopics(ctx context.Context) {
	client, err := systemtopics.NewSystemTopicsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	id := systemtopics.NewSystemTopicID(w.SubscriptionID, group, "hashicorp-system")
	step("a system topic is made, and read without drift", func() error {
		wanted := systemtopics.SystemTopic{Location: location, Properties: &systemtopics.SystemTopicProperties{
			Source:    to(w.groupID().ID() + "/providers/Microsoft.Storage/storageAccounts/photos"),
			TopicType: to("Microsoft.Storage.StorageAccounts"),
		}}
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, drift(wanted, read.Model))
	})
	step("a system topic is changed", func() error {
		if err := client.UpdateThenPoll(ctx, id, systemtopics.SystemTopicUpdateParameters{Tags: tags}); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return errors.Join(err, differences("tag", "us", (*read.Model.Tags)["for"]))
	})
	events := w.subscriptionClient()
	one := eventsubscriptions.NewSystemTopicEventSubscriptionID(w.SubscriptionID, group, "hashicorp-system", "hashicorp")
	wanted := w.wanted(eventsubscriptions.EventDeliverySchemaCloudEventSchemaVOneZero)
	step("an event subscription of a system topic is made, read without drift and deleted", func() error {
		if err := events.SystemTopicEventSubscriptionsCreateOrUpdateThenPoll(ctx, one, wanted); err != nil {
			return err
		}
		read, err := events.SystemTopicEventSubscriptionsGet(ctx, one)
		if err != nil {
			return err
		}
		return errors.Join(drift(wanted, read.Model), events.SystemTopicEventSubscriptionsDeleteThenPoll(ctx, one))
	})
	step("a system topic is deleted", func() error {
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}

func (w *witness) namespaces(ctx context.Context) {
	client, err := namespaces.NewNamespacesClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	id := namespaces.NewNamespaceID(w.SubscriptionID, group, "hashicorp-namespace")
	step("a namespace is made, and read without drift", func() error {
		wanted := namespaces.Namespace{
			Location:   location,
			Sku:        &namespaces.NamespaceSku{Name: to(namespaces.SkuNameStandard), Capacity: to(int64(1))},
			Properties: &namespaces.NamespaceProperties{PublicNetworkAccess: to(namespaces.PublicNetworkAccessEnabled)},
		}
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		if err != nil {
			return err
		}
		if read.Model.Properties.TopicsConfiguration == nil || read.Model.Properties.TopicsConfiguration.Hostname == nil {
			return errors.New("it has no host name")
		}
		return drift(wanted, read.Model)
	})
	step("a namespace is changed, and keeps the name of its size", func() error {
		change := namespaces.NamespaceUpdateParameters{Tags: tags, Sku: &namespaces.NamespaceSku{Capacity: to(int64(2))}}
		if err := client.UpdateThenPoll(ctx, id, change); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		wanted := namespaces.NamespaceSku{Name: to(namespaces.SkuNameStandard), Capacity: to(int64(2))}
		return errors.Join(err, differences("tag", "us", (*read.Model.Tags)["for"]), drift(wanted, read.Model.Sku))
	})
	w.namespaceTopics(ctx)
	step("a namespace is deleted", func() error {
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}

func (w *witness) namespaceTopics(ctx context.Context) {
	client, err := namespacetopics.NewNamespaceTopicsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	id := namespacetopics.NewNamespaceTopicID(w.SubscriptionID, group, "hashicorp-namespace", "orders")
	step("a namespace topic is made, read without drift and changed", func() error {
		wanted := namespacetopics.NamespaceTopic{Properties: &namespacetopics.NamespaceTopicProperties{
			EventRetentionInDays: to(int64(1)),
			InputSchema:          to(namespacetopics.EventInputSchemaCloudEventSchemaVOneZero),
			PublisherType:        to(namespacetopics.PublisherTypeCustom),
		}}
		if err := client.CreateOrUpdateThenPoll(ctx, id, wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		if err != nil {
			return err
		}
		change := namespacetopics.NamespaceTopicUpdateParameters{
			Properties: &namespacetopics.NamespaceTopicUpdateParameterProperties{EventRetentionInDays: to(int64(7))},
		}
		if err := client.UpdateThenPoll(ctx, id, change); err != nil {
			return err
		}
		changed, err := client.Get(ctx, id)
		return errors.Join(err, drift(wanted, read.Model), drift(change, changed.Model))
	})
	events := w.subscriptionClient()
	one := eventsubscriptions.NewNamespaceTopicEventSubscriptionID(w.SubscriptionID, group, "hashicorp-namespace", "orders", "app")
	step("an event subscription of a namespace topic is made, read without drift and changed", func() error {
		wanted := eventsubscriptions.Subscription{Properties: &eventsubscriptions.SubscriptionProperties{
			EventDeliverySchema: to(eventsubscriptions.DeliverySchemaCloudEventSchemaVOneZero),
			ExpirationTimeUtc:   to(""),
			DeliveryConfiguration: &eventsubscriptions.DeliveryConfiguration{
				DeliveryMode: to(eventsubscriptions.DeliveryModeQueue),
				Queue:        &eventsubscriptions.QueueInfo{MaxDeliveryCount: to(int64(5)), ReceiveLockDurationInSeconds: to(int64(60))},
			},
			FiltersConfiguration: &eventsubscriptions.FiltersConfiguration{IncludedEventTypes: &[]string{"order.placed"}},
		}}
		if err := events.NamespaceTopicEventSubscriptionsCreateOrUpdateThenPoll(ctx, one, wanted); err != nil {
			return err
		}
		read, err := events.NamespaceTopicEventSubscriptionsGet(ctx, one)
		if err != nil {
			return err
		}
		change := eventsubscriptions.SubscriptionUpdateParameters{Properties: &eventsubscriptions.SubscriptionUpdateParametersProperties{
			FiltersConfiguration: &eventsubscriptions.FiltersConfiguration{IncludedEventTypes: &[]string{"order.paid"}},
		}}
		if err := events.NamespaceTopicEventSubscriptionsUpdateThenPoll(ctx, one, change); err != nil {
			return err
		}
		changed, err := events.NamespaceTopicEventSubscriptionsGet(ctx, one)
		attributes, refused := events.NamespaceTopicEventSubscriptionsGetDeliveryAttributes(ctx, one)
		if refused == nil && attributes.Model == nil {
			refused = errors.New("no delivery attributes were answered")
		}
		return errors.Join(err, refused, drift(wanted, read.Model), drift(change, changed.Model))
	})
	step("an event subscription of a namespace topic and the topic are deleted", func() error {
		if err := events.NamespaceTopicEventSubscriptionsDeleteThenPoll(ctx, one); err != nil {
			return err
		}
		if err := client.DeleteThenPoll(ctx, id); err != nil {
			return err
		}
		read, err := client.Get(ctx, id)
		return gone(read.HttpResponse, err)
	})
}
