// Azure's Go SDKs for custom topics, domains, system topics and namespaces against the emulator. Each step is a line of JSON on standard output;
// WORLD says where all is.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/eventgrid/armeventgrid/v2"
)

const (
	group    = "rg"
	location = "westeurope"
)

type topic struct{ Name, ID, Endpoint, Key string }

type world struct {
	ResourceManager, AuthorityHost, Proxy            string
	TenantID, SubscriptionID, ClientID, ClientSecret string
	// Topics that exist from the start: of CloudEvents, and of the Event Grid schema.
	Cloud, Grid topic
	// Where it is given, it is all that is used.
	Namespace *namespaceTopic
}

type line struct {
	Step  string `json:"step"`
	Error string `json:"error,omitempty"`
}

func step(name string, check func() error) {
	said := line{Step: name}
	if err := check(); err != nil {
		said.Error = strings.Join(strings.Fields(err.Error()), " ")
	}
	_ = json.NewEncoder(os.Stdout).Encode(said)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// same is an error unless both are equal.
func same[T comparable](what string, found, wanted T) error {
	if found == wanted {
		return nil
	}
	return fmt.Errorf("%s is %v, not %v", what, found, wanted)
}

// value is what a field of the SDK's models holds. A field without a value has the zero value.
func value[T any](field *T) T {
	if field == nil {
		var none T
		return none
	}
	return *field
}

func refused(err error, status int, code string) error {
	var answer *azcore.ResponseError
	if !errors.As(err, &answer) {
		return fmt.Errorf("no refusal with %d %s: %v", status, code, err)
	}
	return errors.Join(same("the status", answer.StatusCode, status), same("the code", answer.ErrorCode, code))
}

// finished waits for the end of an operation, unless it was refused.
func finished[T any](ctx context.Context, poller *runtime.Poller[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return poller.PollUntilDone(ctx, &runtime.PollUntilDoneOptions{Frequency: time.Second})
}

// A witness knows the world, signs in, and has a webhook.
type witness struct {
	world
	webhook    *subscriber
	credential *azidentity.ClientSecretCredential
	clients    *armeventgrid.ClientFactory
}

func signIn(at world) (policy.ClientOptions, *azidentity.ClientSecretCredential) {
	options := once
	options.Cloud = cloud.Configuration{
		ActiveDirectoryAuthorityHost: at.AuthorityHost,
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: at.ResourceManager, Audience: "https://management.azure.com"},
		},
	}
	credential, err := azidentity.NewClientSecretCredential(at.TenantID, at.ClientID, at.ClientSecret,
		&azidentity.ClientSecretCredentialOptions{ClientOptions: options, DisableInstanceDiscovery: true})
	must(err)
	return options, credential
}

func newWitness(at world) *witness {
	options, credential := signIn(at)
	clients, err := armeventgrid.NewClientFactory(at.SubscriptionID, credential, &arm.ClientOptions{ClientOptions: options})
	must(err)
	webhook, err := newSubscriber()
	must(err)
	return &witness{at, webhook, credential, clients}
}

func main() {
	var at world
	must(json.Unmarshal([]byte(os.Getenv("WORLD")), &at))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if at.Namespace != nil {
		namespaces(ctx, at)
		return
	}
	w := newWitness(at)
	w.topics(ctx)
	w.eventSubscriptions(ctx)
	w.publishing(ctx)
	w.domains(ctx)
	w.systemTopics(ctx)
	w.unsupported(ctx)
}
