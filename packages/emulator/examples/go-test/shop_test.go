package shop

// What a test can ask of the emulator.

import (
	"context"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/azeventgrid"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

func publish(t *testing.T, order string, amount int) {
	t.Helper()
	topic := emulator.Topics[0]
	client, err := azeventgrid.NewClientWithSharedKeyCredential(topic.Endpoint, azcore.NewKeyCredential(topic.Key), nil)
	must(err)
	must(PlaceOrder(t.Context(), client, order, amount))
}

// subscribe makes an event subscription by Azure's own SDK, as a deployment does.
func subscribe(t *testing.T, name string, properties armeventgrid.EventSubscriptionProperties) {
	t.Helper()
	options := policy.ClientOptions{Cloud: cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: os.Getenv("AZURE_RESOURCE_MANAGER_URL"), Audience: "https://management.azure.com"},
	}}}
	credential, err := azidentity.NewEnvironmentCredential(&azidentity.EnvironmentCredentialOptions{DisableInstanceDiscovery: true})
	must(err)
	client, err := armeventgrid.NewEventSubscriptionsClient(os.Getenv("AZURE_SUBSCRIPTION_ID"), credential,
		&arm.ClientOptions{ClientOptions: options})
	must(err)
	properties.EventDeliverySchema = to.Ptr(armeventgrid.EventDeliverySchemaCloudEventSchemaV10)
	properties.Destination = &armeventgrid.WebHookEventSubscriptionDestination{
		Properties: &armeventgrid.WebHookEventSubscriptionDestinationProperties{EndpointURL: to.Ptr("https://shop.example.com/events")},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	scope := strings.TrimPrefix(emulator.Topics[0].ID, "/")
	poller, err := client.BeginCreateOrUpdate(ctx, scope, name, armeventgrid.EventSubscription{Properties: &properties}, nil)
	must(err)
	_, err = poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: time.Second})
	must(err)
}

// fate is what became of an order at its event subscription: the state, and the status of each attempt.
func fate(t *testing.T, order string) (state string, statuses []int) {
	t.Helper()
	var found struct {
		Events []struct {
			Subscriptions []struct {
				State    string
				Attempts []struct{ Status int }
			}
		}
	}
	get(t, "events", url.Values{"subject": {"orders/" + order}}, &found)
	if len(found.Events) != 1 || len(found.Events[0].Subscriptions) != 1 {
		t.Fatalf("there is not one event at one event subscription: %v", found)
	}
	at := found.Events[0].Subscriptions[0]
	for _, attempt := range at.Attempts {
		statuses = append(statuses, attempt.Status)
	}
	return at.State, statuses
}

func same(t *testing.T, found, wanted any) {
	t.Helper()
	if !reflect.DeepEqual(found, wanted) {
		t.Errorf("got %v, not %v", found, wanted)
	}
}

func TestAnOrderIsPublished(t *testing.T) {
	reset(t)
	publish(t, "one", 5)
	var published struct {
		Events []struct {
			Type  string
			Event struct{ Data map[string]int }
		}
	}
	get(t, "events", url.Values{"topic": {"orders"}}, &published)
	same(t, len(published.Events), 1)
	same(t, published.Events[0].Type, "order.placed")
	same(t, published.Events[0].Event.Data, map[string]int{"amount": 5})
}

func TestARefusedOrderComesAgainAfter30Seconds(t *testing.T) {
	reset(t)
	subscribe(t, "billing", armeventgrid.EventSubscriptionProperties{})
	webhook.clear(503)
	publish(t, "one", 5)
	post(t, "clock", map[string]string{"advance": "29s"})
	_, statuses := fate(t, "one")
	same(t, statuses, []int{503})
	post(t, "clock", map[string]string{"advance": "10s"})
	state, statuses := fate(t, "one")
	same(t, statuses, []int{503, 200})
	same(t, state, "delivered")
}

func TestAnOrderThatNobodyTakesIsADeadLetter(t *testing.T) {
	reset(t)
	subscribe(t, "billing", armeventgrid.EventSubscriptionProperties{
		RetryPolicy: &armeventgrid.RetryPolicy{MaxDeliveryAttempts: to.Ptr[int32](2)},
	})
	webhook.clear(500, 500)
	publish(t, "one", 5)
	post(t, "clock", map[string]string{"advance": "10m"})
	var found struct {
		DeadLetters []struct{ Subscription, Reason string }
	}
	get(t, "dead-letters", nil, &found)
	same(t, len(found.DeadLetters), 1)
	same(t, found.DeadLetters[0].Subscription, "billing")
	same(t, found.DeadLetters[0].Reason, "MaxDeliveryAttemptsExceeded")
}

func TestAFilterTakesLargeOrdersOnly(t *testing.T) {
	reset(t)
	large := &armeventgrid.NumberGreaterThanAdvancedFilter{Key: to.Ptr("data.amount"), Value: to.Ptr(100.0)}
	subscribe(t, "large", armeventgrid.EventSubscriptionProperties{Filter: &armeventgrid.EventSubscriptionFilter{
		AdvancedFilters: []armeventgrid.AdvancedFilterClassification{large},
	}})
	publish(t, "small", 5)
	publish(t, "large", 500)
	post(t, "settle", map[string]string{"timeout": "10s"})
	state, _ := fate(t, "small")
	same(t, state, "unmatched")
	same(t, webhook.subjects(), []string{"orders/large"})
}
