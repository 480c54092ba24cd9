# A topic, and the event subscription of the component `orders` with `provisioning: none` (or `check`), by the provider azapi.
# Deliveries are secured by Entra: azapi before 2.0 shows a difference in every plan for a value that Azure hides.

terraform {
  required_version = ">= 1.8"
  required_providers {
    azapi = {
      source  = "azure/azapi"
      version = ">= 1.15.0"
    }
  }
}

provider "azapi" {
  skip_provider_registration = true
}

variable "subscription_id" {
  type = string
}

variable "location" {
  type    = string
  default = "westeurope"
}

variable "endpoint" {
  description = "subscriberEndpoint of the component"
  type        = string
  default     = "https://orders.example.com/api/events"
}

variable "tenant_id" {
  description = "tenantId of the component: its deliveries carry a token of Entra"
  type        = string
}

variable "client_id" {
  description = "clientId of the component, or its application id URI"
  type        = string
}

variable "dead_letter_account_id" {
  description = "Resource id of a storage account with the container `dead-letters`"
  type        = string
}

variable "event_types" {
  type    = list(string)
  default = ["order.placed", "order.paid"]
}

variable "principal_id" {
  description = "Object id of the identity that the sidecar runs as"
  type        = string
}

locals {
  # Built-in roles of Azure, by their ids: the sidecar publishes, and with `provisioning: check` reads its event subscription.
  roles = {
    sender = "d5a91429-5739-47e2-a06b-3470a27159e7"
    reader = "2414bbcf-6497-4faf-8c65-045460748405"
  }
}

resource "azapi_resource" "group" {
  type      = "Microsoft.Resources/resourceGroups@2023-07-01"
  parent_id = "/subscriptions/${var.subscription_id}"
  name      = "orders"
  location  = var.location
  tags      = { app = "orders" }
}

resource "azapi_resource" "topic" {
  type      = "Microsoft.EventGrid/topics@2022-06-15"
  parent_id = azapi_resource.group.id
  name      = "orders-topic"
  location  = var.location
  body = {
    properties = {
      inputSchema      = "CloudEventSchemaV1_0"
      disableLocalAuth = true
    }
  }
}

resource "azapi_resource" "subscription" {
  type      = "Microsoft.EventGrid/eventSubscriptions@2022-06-15"
  parent_id = azapi_resource.topic.id
  name      = "orders"
  # Azure does not show the URL that was written.
  ignore_missing_property = true
  body = {
    properties = {
      eventDeliverySchema = "CloudEventSchemaV1_0"
      destination = {
        endpointType = "WebHook"
        properties = {
          endpointUrl                            = var.endpoint
          azureActiveDirectoryTenantId           = var.tenant_id
          azureActiveDirectoryApplicationIdOrUri = var.client_id
        }
      }
      filter = {
        includedEventTypes = var.event_types
        advancedFilters = [{
          operatorType = "NumberGreaterThan"
          key          = "data.amount"
          value        = 0
        }]
      }
      retryPolicy = {
        maxDeliveryAttempts      = 30
        eventTimeToLiveInMinutes = 1440
      }
      deadLetterDestination = {
        endpointType = "StorageBlob"
        properties = {
          resourceId        = var.dead_letter_account_id
          blobContainerName = "dead-letters"
        }
      }
    }
  }
}

resource "azapi_resource" "role" {
  for_each  = local.roles
  type      = "Microsoft.Authorization/roleAssignments@2022-04-01"
  parent_id = azapi_resource.topic.id
  name      = uuidv5("oid", "${each.value}/${var.principal_id}")
  body = {
    properties = {
      principalId      = var.principal_id
      principalType    = "ServicePrincipal"
      roleDefinitionId = "/subscriptions/${var.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/${each.value}"
    }
  }
}

output "scope" {
  description = "scope of the component"
  value       = azapi_resource.topic.id
}
