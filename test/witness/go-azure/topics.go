package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

var guid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func cloudTopic(location string) armeventgrid.Topic {
	schema := &armeventgrid.TopicProperties{InputSchema: to.Ptr(armeventgrid.InputSchemaCloudEventSchemaV10)}
	return armeventgrid.Topic{Location: &location, Properties: schema}
}

// topics creates a custom topic, changes it and deletes it.
func (w *witness) topics(ctx context.Context) {
	client := w.clients.NewTopicsClient()
	step("armeventgrid creates a topic, whose 201 has no endpoint, and which has it at the end", func() error {
		var answer *http.Response
		poller, err := client.BeginCreateOrUpdate(policy.WithCaptureResponse(ctx, &answer), group, "made", cloudTopic(location), nil)
		if err != nil {
			return err
		}
		made, err := finished(ctx, poller, nil)
		if err != nil {
			return err
		}
		return errors.Join(firstAnswer(answer), wholeTopic(made.Topic))
	})
	step("armeventgrid changes tags and network rules of a topic", func() error {
		rule := &armeventgrid.InboundIPRule{IPMask: to.Ptr("10.0.0.0/8"), Action: to.Ptr(armeventgrid.IPActionTypeAllow)}
		patch := armeventgrid.TopicUpdateParameters{
			Tags:       map[string]*string{"team": to.Ptr("orders")},
			Properties: &armeventgrid.TopicUpdateParameterProperties{InboundIPRules: []*armeventgrid.InboundIPRule{rule}},
		}
		poller, err := client.BeginUpdate(ctx, group, "made", patch, nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		read, err := client.Get(ctx, group, "made", nil)
		if err != nil || len(read.Properties.InboundIPRules) != 1 {
			return fmt.Errorf("%+v %v", read.Properties, err)
		}
		return errors.Join(
			same("the tag", value(read.Tags["team"]), "orders"),
			same("the rule", value(read.Properties.InboundIPRules[0].IPMask), "10.0.0.0/8"),
			same("the schema", value(read.Properties.InputSchema), armeventgrid.InputSchemaCloudEventSchemaV10),
		)
	})
	step("azeventgrid is refused by the network rules", func() error {
		read, err := client.Get(ctx, group, "made", nil)
		if err != nil {
			return err
		}
		keys, err := client.ListSharedAccessKeys(ctx, group, "made", nil)
		if err != nil {
			return err
		}
		_, err = publishCloudEvent(ctx, byKey(value(read.Properties.Endpoint), value(keys.Key1)), "/made")
		return refused(err, http.StatusForbidden, "Forbidden")
	})
	step("armeventgrid is refused another location of a topic", func() error {
		_, err := client.BeginCreateOrUpdate(ctx, group, "made", cloudTopic("northeurope"), nil)
		return refused(err, http.StatusConflict, "InvalidResourceLocation")
	})
	step("armeventgrid deletes a topic", func() error {
		poller, err := client.BeginDelete(ctx, group, "made", nil)
		if _, err := finished(ctx, poller, err); err != nil {
			return err
		}
		_, err = client.Get(ctx, group, "made", nil)
		return refused(err, http.StatusNotFound, "ResourceNotFound")
	})
}

// firstAnswer looks at the 201 that makes a topic: as it is, and as the SDK reads it.
func firstAnswer(answer *http.Response) error {
	var raw struct{ Properties map[string]any }
	var read armeventgrid.Topic
	if err := errors.Join(runtime.UnmarshalAsJSON(answer, &raw), runtime.UnmarshalAsJSON(answer, &read)); err != nil {
		return err
	}
	endpoint, hasEndpoint := raw.Properties["endpoint"]
	_, hasMetrics := raw.Properties["metricResourceId"]
	_, hasAccess := raw.Properties["publicNetworkAccess"]
	return errors.Join(
		same("the status", answer.StatusCode, http.StatusCreated),
		same("a null endpoint", hasEndpoint && endpoint == nil, true),
		same("a metricResourceId in the 201", hasMetrics, false),
		same("a publicNetworkAccess in the 201", hasAccess, false),
		same("the endpoint", value(read.Properties.Endpoint), ""),
		same("systemData", read.SystemData, nil),
		same("the state", value(read.Properties.ProvisioningState), armeventgrid.TopicProvisioningStateCreating),
	)
}

func wholeTopic(made armeventgrid.Topic) error {
	return errors.Join(
		same("the state", value(made.Properties.ProvisioningState), armeventgrid.TopicProvisioningStateSucceeded),
		same("an endpoint", made.Properties.Endpoint != nil, true),
		same("a GUID as metricResourceId", guid.MatchString(value(made.Properties.MetricResourceID)), true),
		same("publicNetworkAccess", value(made.Properties.PublicNetworkAccess), armeventgrid.PublicNetworkAccessEnabled),
		same("systemData", made.SystemData, nil),
	)
}

// unsupported asks for what Azure has and the emulator has not.
func (w *witness) unsupported(ctx context.Context) {
	const code = "NotSupportedByEmulator"
	step("armeventgrid is told that the emulator does not support partner topics and operations", func() error {
		_, partner := w.clients.NewPartnerTopicsClient().Get(ctx, group, "partner", nil)
		_, operations := w.clients.NewOperationsClient().NewListPager(nil).NextPage(ctx)
		return errors.Join(refused(partner, http.StatusBadRequest, code), refused(operations, http.StatusBadRequest, code))
	})
}
