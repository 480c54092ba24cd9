package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-azure-helpers/resourcemanager/commonids"
	"github.com/hashicorp/go-azure-sdk/resource-manager/authorization/2022-04-01/roleassignments"
	"github.com/hashicorp/go-azure-sdk/resource-manager/authorization/2022-04-01/roledefinitions"
	"github.com/hashicorp/go-azure-sdk/resource-manager/resources/2023-07-01/providers"
	"github.com/hashicorp/go-azure-sdk/resource-manager/resources/2023-07-01/resourcegroups"
)

const group = "hashicorp"

func (w *witness) groupID() commonids.ResourceGroupId {
	return commonids.NewResourceGroupID(w.SubscriptionID, group)
}

func (w *witness) groupClient() *resourcegroups.ResourceGroupsClient {
	client, err := resourcegroups.NewResourceGroupsClientWithBaseURI(w.environment.ResourceManager)
	w.authorize(client.Client, err)
	return client
}

func (w *witness) groups(ctx context.Context) {
	client := w.groupClient()
	step("a resource group is made, read without drift and changed", func() error {
		wanted := resourcegroups.ResourceGroup{Location: "northeurope", Tags: &map[string]string{"for": "test"}}
		if _, err := client.CreateOrUpdate(ctx, w.groupID(), wanted); err != nil {
			return err
		}
		read, err := client.Get(ctx, w.groupID())
		if err != nil {
			return err
		}
		changed, err := client.Update(ctx, w.groupID(), resourcegroups.ResourceGroupPatchable{Tags: &map[string]string{"for": "us"}})
		if err != nil {
			return err
		}
		return errors.Join(drift(wanted, read.Model), differences("tag", "us", (*changed.Model.Tags)["for"]))
	})
	step("the resource providers are listed", func() error {
		client, err := providers.NewProvidersClientWithBaseURI(w.environment.ResourceManager)
		w.authorize(client.Client, err)
		all, err := client.ListComplete(ctx, commonids.NewSubscriptionID(w.SubscriptionID), providers.DefaultListOperationOptions())
		if err != nil {
			return err
		}
		for _, one := range all.Items {
			if *one.Namespace == "Microsoft.EventGrid" {
				return differences("its state", "Registered", *one.RegistrationState)
			}
		}
		return fmt.Errorf("Microsoft.EventGrid is not among %d", len(all.Items))
	})
	step("a role is found by name, assigned, read and taken away", func() error {
		definitions, err := roledefinitions.NewRoleDefinitionsClientWithBaseURI(w.environment.ResourceManager)
		w.authorize(definitions.Client, err)
		scope := commonids.NewScopeID(w.groupID().ID())
		options := roledefinitions.ListOperationOptions{Filter: to("roleName eq 'EventGrid Data Sender'")}
		found, err := definitions.List(ctx, scope, options)
		if err != nil || len(*found.Model) != 1 {
			return fmt.Errorf("found %v: %v", found.Model, err)
		}
		assignments, err := roleassignments.NewRoleAssignmentsClientWithBaseURI(w.environment.ResourceManager)
		w.authorize(assignments.Client, err)
		id := roleassignments.NewScopedRoleAssignmentID(scope.ID(), "99999999-9999-4999-8999-999999999999")
		wanted := roleassignments.RoleAssignmentCreateParameters{Properties: roleassignments.RoleAssignmentProperties{
			PrincipalId: w.ObjectID, RoleDefinitionId: *(*found.Model)[0].Id,
		}}
		if _, err := assignments.Create(ctx, id, wanted); err != nil {
			return err
		}
		read, err := assignments.Get(ctx, id, roleassignments.DefaultGetOperationOptions())
		if err != nil {
			return err
		}
		_, err = assignments.Delete(ctx, id, roleassignments.DefaultDeleteOperationOptions())
		return errors.Join(drift(wanted, read.Model), err)
	})
}

func (w *witness) deleteGroup(ctx context.Context) {
	step("the resource group is deleted", func() error {
		client := w.groupClient()
		if err := client.DeleteThenPoll(ctx, w.groupID(), resourcegroups.DefaultDeleteOperationOptions()); err != nil {
			return err
		}
		if read, err := client.Get(ctx, w.groupID()); err == nil {
			return fmt.Errorf("it is still there: %v", read.Model)
		}
		return nil
	})
}
