package main

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/messaging"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/aznamespaces"
)

// A namespace topic with the key of its namespace, and its event subscription.
type namespaceTopic struct{ Endpoint, Topic, Queue, Key string }

func orderEvent(id string) *messaging.CloudEvent {
	event, err := messaging.NewCloudEvent("/shop", "order.placed", map[string]any{"order": id}, &messaging.CloudEventOptions{
		DataContentType: to.Ptr("application/json"),
		Subject:         to.Ptr("eu/1"),
		Extensions:      map[string]any{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	})
	must(err)
	event.ID = id
	return &event
}

type clients struct {
	sender   *aznamespaces.SenderClient
	receiver *aznamespaces.ReceiverClient
}

func queueByKey(at namespaceTopic) clients {
	key := azcore.NewKeyCredential(at.Key)
	sender, err := aznamespaces.NewSenderClientWithSharedKeyCredential(at.Endpoint, at.Topic, key, &aznamespaces.SenderClientOptions{ClientOptions: once})
	must(err)
	receiver, err := aznamespaces.NewReceiverClientWithSharedKeyCredential(at.Endpoint, at.Topic, at.Queue, key, &aznamespaces.ReceiverClientOptions{ClientOptions: once})
	must(err)
	return clients{sender, receiver}
}

func queueByToken(at namespaceTopic, token azcore.TokenCredential) clients {
	sender, err := aznamespaces.NewSenderClient(at.Endpoint, at.Topic, token, &aznamespaces.SenderClientOptions{ClientOptions: once})
	must(err)
	receiver, err := aznamespaces.NewReceiverClient(at.Endpoint, at.Topic, at.Queue, token, &aznamespaces.ReceiverClientOptions{ClientOptions: once})
	must(err)
	return clients{sender, receiver}
}

// receive takes exactly so many events; an answer may hold fewer.
func receive(ctx context.Context, from *aznamespaces.ReceiverClient, count int) (tokens []string, details []aznamespaces.ReceiveDetails, err error) {
	for len(details) < count {
		options := &aznamespaces.ReceiveEventsOptions{MaxEvents: to.Ptr(int32(count - len(details))), MaxWaitTime: to.Ptr[int32](10)}
		answer, err := from.ReceiveEvents(ctx, options)
		if err != nil {
			return nil, nil, err
		}
		if len(answer.Details) == 0 {
			return nil, nil, fmt.Errorf("%d of %d events came", len(details), count)
		}
		for _, one := range answer.Details {
			details = append(details, one)
			tokens = append(tokens, *one.BrokerProperties.LockToken)
		}
	}
	return tokens, details, nil
}

func wholeLife(ctx context.Context, name string, by clients) {
	var tokens []string
	step("aznamespaces publishes one event and a batch with "+name, func() error {
		if _, err := by.sender.SendEvent(ctx, orderEvent("one"), nil); err != nil {
			return err
		}
		_, err := by.sender.SendEvents(ctx, []*messaging.CloudEvent{orderEvent("two"), orderEvent("three")}, nil)
		return err
	})
	step("receives them as they were published", func() error {
		received, details, err := receive(ctx, by.receiver, 3)
		tokens = received
		for index, id := range []string{"one", "two", "three"} {
			if err != nil {
				return err
			}
			event := details[index].Event
			data, isJSON := event.Data.([]byte)
			wanted := fmt.Sprintf(`{"order":"%s"}`, id)
			if event.ID != id || !isJSON || string(data) != wanted || *event.Subject != "eu/1" || event.Extensions["traceparent"] == nil {
				return fmt.Errorf("%+v holds %v", event, event.Data)
			}
			if count := *details[index].BrokerProperties.DeliveryCount; count != 1 {
				return fmt.Errorf("its delivery count is %d", count)
			}
		}
		return err
	})
	step("renews the locks, and acknowledges one", func() error {
		renewed, err := by.receiver.RenewEventLocks(ctx, tokens, nil)
		if err != nil || len(renewed.SucceededLockTokens) != 3 || len(renewed.FailedLockTokens) != 0 {
			return fmt.Errorf("%+v %v", renewed, err)
		}
		taken, err := by.receiver.AcknowledgeEvents(ctx, tokens[:1], nil)
		if err != nil || len(taken.SucceededLockTokens) != 1 || len(taken.FailedLockTokens) != 0 {
			return fmt.Errorf("%+v %v", taken, err)
		}
		return nil
	})
	step("is told that a lock is lost, without an error of HTTP", func() error {
		again, err := by.receiver.AcknowledgeEvents(ctx, tokens[:1], nil)
		if err != nil || len(again.SucceededLockTokens) != 0 || len(again.FailedLockTokens) != 1 {
			return fmt.Errorf("%+v %v", again, err)
		}
		if code := *again.FailedLockTokens[0].Error.Code; code != "TokenLost" {
			return fmt.Errorf("the code is %s", code)
		}
		return nil
	})
	step("releases two events, one with a delay, and receives them a second time", func() error {
		if _, err := by.receiver.ReleaseEvents(ctx, tokens[1:2], nil); err != nil {
			return err
		}
		delay := &aznamespaces.ReleaseEventsOptions{ReleaseDelayInSeconds: to.Ptr(aznamespaces.ReleaseDelayTenSeconds)}
		if _, err := by.receiver.ReleaseEvents(ctx, tokens[2:], delay); err != nil {
			return err
		}
		again, details, err := receive(ctx, by.receiver, 2)
		tokens = again
		for _, one := range details {
			if *one.BrokerProperties.DeliveryCount != 2 {
				return fmt.Errorf("its delivery count is %d", *one.BrokerProperties.DeliveryCount)
			}
		}
		return err
	})
	step("rejects them, and nothing is left", func() error {
		rejected, err := by.receiver.RejectEvents(ctx, tokens, nil)
		if err != nil || len(rejected.SucceededLockTokens) != 2 {
			return fmt.Errorf("%+v %v", rejected, err)
		}
		empty, err := by.receiver.ReceiveEvents(ctx, &aznamespaces.ReceiveEventsOptions{MaxWaitTime: to.Ptr[int32](10)})
		if err == nil && len(empty.Details) != 0 {
			return fmt.Errorf("%d events are left", len(empty.Details))
		}
		return err
	})
}

func refusals(ctx context.Context, at namespaceTopic) {
	step("is refused an event without data", func() error {
		event, err := messaging.NewCloudEvent("/shop", "order.placed", nil, nil)
		must(err)
		_, err = queueByKey(at).sender.SendEvent(ctx, &event, nil)
		return refused(err, 400, "BadRequest")
	})
	step("is refused a wrong key", func() error {
		stranger := at
		stranger.Key = "d3Jvbmc="
		_, err := queueByKey(stranger).receiver.ReceiveEvents(ctx, nil)
		return refused(err, 401, "Unauthorized")
	})
	step("is told that the topic is gone when it publishes", func() error {
		elsewhere := at
		elsewhere.Topic = "nothing"
		_, err := queueByKey(elsewhere).sender.SendEvent(ctx, orderEvent("one"), nil)
		return refused(err, 404, "NotFound")
	})
}

// namespaces publishes, receives and settles with Azure's Go client of Event Grid namespaces.
func namespaces(ctx context.Context, at world) {
	topic := *at.Namespace
	_, credential := signIn(at)
	wholeLife(ctx, "a key", queueByKey(topic))
	wholeLife(ctx, "a token", queueByToken(topic, credential))
	refusals(ctx, topic)
}
