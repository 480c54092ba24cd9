// HashiCorp's go-azure-sdk, which Terraform's azurerm is made of, against the emulator: it finds the cloud by its metadata, signs
// in, and makes, reads, changes and deletes what azurerm has. Each step is a line of JSON on standard output; WORLD says where
// all is.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-azure-sdk/sdk/auth"
	"github.com/hashicorp/go-azure-sdk/sdk/claims"
	"github.com/hashicorp/go-azure-sdk/sdk/client/resourcemanager"
	"github.com/hashicorp/go-azure-sdk/sdk/environments"
)

type world struct {
	ResourceManager, TenantID, SubscriptionID, ClientID, ClientSecret, ObjectID, Webhook string
	// The folder of the examples of Terraform.
	Examples string
}

type line struct {
	Step  string `json:"step"`
	Error string `json:"error,omitempty"`
}

var writing sync.Mutex

func step(name string, check func() error) {
	said := line{Step: name}
	if err := check(); err != nil {
		said.Error = strings.Join(strings.Fields(err.Error()), " ")
	}
	writing.Lock()
	defer writing.Unlock()
	_ = json.NewEncoder(os.Stdout).Encode(said)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func to[T any](value T) *T { return &value }

// drift is an error for each field that was sent and is read differently, as a plan of Terraform would show it.
func drift(sent, read any) error {
	return differences("", plain(sent), plain(read))
}

func plain(value any) (decoded any) {
	text, err := json.Marshal(value)
	must(err)
	must(json.Unmarshal(text, &decoded))
	return decoded
}

func differences(path string, sent, read any) error {
	switch wanted := sent.(type) {
	case map[string]any:
		found, _ := read.(map[string]any)
		var all []error
		for name, value := range wanted {
			// The whole URL has a call of its own.
			if value != nil && name != "endpointUrl" {
				all = append(all, differences(path+"."+name, value, found[name]))
			}
		}
		return errors.Join(all...)
	case []any:
		found, _ := read.([]any)
		if len(found) != len(wanted) {
			return fmt.Errorf("%s has %d items, not %d", path, len(found), len(wanted))
		}
		var all []error
		for index, value := range wanted {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, index), value, found[index]))
		}
		return errors.Join(all...)
	}
	if sent == read || (sent == "" && read == nil) {
		return nil
	}
	return fmt.Errorf("%s is %v, not %v", path, read, sent)
}

// A witness knows the world, and authorizes its clients.
type witness struct {
	world
	environment environments.Environment
	authorizer  auth.Authorizer
}

func (w *witness) authorize(client *resourcemanager.Client, err error) {
	must(err)
	client.SetAuthorizer(w.authorizer)
}

func (w *witness) signIn(ctx context.Context) {
	step("finds the cloud by its metadata, as with metadata_host", func() error {
		found, err := environments.FromEndpoint(ctx, w.ResourceManager)
		if err != nil {
			return err
		}
		w.environment = *found
		return differences("the login endpoint", w.ResourceManager, w.environment.Authorization.LoginEndpoint)
	})
	credentials := auth.Credentials{
		Environment: w.environment, TenantID: w.TenantID, ClientID: w.ClientID, ClientSecret: w.ClientSecret,
		EnableAuthenticatingUsingClientSecret: true,
	}
	step("reads its own object id from a token for Microsoft Graph", func() error {
		graph, err := auth.NewAuthorizerFromCredentials(ctx, credentials, w.environment.MicrosoftGraph)
		if err != nil {
			return err
		}
		token, err := graph.Token(ctx, nil)
		if err != nil {
			return err
		}
		own, err := claims.ParseClaims(token)
		if err != nil {
			return err
		}
		return differences("oid", w.ObjectID, own.ObjectId)
	})
	authorizer, err := auth.NewAuthorizerFromCredentials(ctx, credentials, w.environment.ResourceManager)
	must(err)
	w.authorizer = authorizer
}

func main() {
	log.SetOutput(os.Stderr)
	var at world
	must(json.Unmarshal([]byte(os.Getenv("WORLD")), &at))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	w := &witness{world: at}
	w.examples()
	w.signIn(ctx)
	w.groups(ctx)
	// Deletion of each is polled every ten seconds, whatever the answer says: so they go side by side.
	var lives sync.WaitGroup
	for _, life := range []func(context.Context){w.topics, w.domains, w.systemTopics, w.namespaces} {
		lives.Go(func() { life(ctx) })
	}
	lives.Wait()
	w.deleteGroup(ctx)
}
