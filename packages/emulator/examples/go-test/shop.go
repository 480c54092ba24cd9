// Package shop is the application under test: it publishes the orders of a shop.
package shop

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/messaging"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/eventgrid/azeventgrid"
)

// PlaceOrder publishes an order.
func PlaceOrder(ctx context.Context, client *azeventgrid.Client, order string, amount int) error {
	subject := "orders/" + order
	event, err := messaging.NewCloudEvent("/shop", "order.placed", map[string]int{"amount": amount}, &messaging.CloudEventOptions{
		Subject: &subject,
	})
	if err != nil {
		return err
	}
	_, err = client.PublishCloudEvents(ctx, []messaging.CloudEvent{event}, nil)
	return err
}
