# A topic, and the event subscription of the component `orders` with `provisioning: none` (or `check`), by the provider azurerm.

terraform {
  required_version = ">= 1.8"
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = ">= 4.0"
    }
  }
}

provider "azurerm" {
  features {}
  # The emulator has no other providers; in Azure their registration takes a role at the subscription.
  resource_provider_registrations = "none"
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

variable "delivery_token" {
  description = "What `eventgrid-binding provision --show-token --component orders` prints"
  type        = string
  sensitive   = true
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

resource "azurerm_resource_group" "orders" {
  name     = "orders"
  location = var.location
  tags     = { app = "orders" }
}

resource "azurerm_eventgrid_topic" "orders" {
  name                = "orders-topic"
  resource_group_name = azurerm_resource_group.orders.name
  location            = azurerm_resource_group.orders.location
  input_schema        = "CloudEventSchemaV1_0"
  local_auth_enabled  = false
}

resource "azurerm_eventgrid_event_subscription" "orders" {
  name                  = "orders"
  scope                 = azurerm_eventgrid_topic.orders.id
  event_delivery_schema = "CloudEventSchemaV1_0"
  included_event_types  = var.event_types

  webhook_endpoint {
    url = var.endpoint
    # Azure's defaults. It shows them, so without them every plan finds a difference.
    max_events_per_batch              = 1
    preferred_batch_size_in_kilobytes = 64
  }

  delivery_property {
    header_name = "X-EventGrid-Binding-Token"
    type        = "Static"
    secret      = true
    value       = var.delivery_token
  }

  advanced_filter {
    number_greater_than {
      key   = "data.amount"
      value = 0
    }
  }

  retry_policy {
    max_delivery_attempts = 30
    event_time_to_live    = 1440
  }

  storage_blob_dead_letter_destination {
    storage_account_id          = var.dead_letter_account_id
    storage_blob_container_name = "dead-letters"
  }
}

# The sidecar publishes, and with `provisioning: check` reads its event subscription.
resource "azurerm_role_assignment" "orders" {
  for_each             = toset(["EventGrid Data Sender", "EventGrid EventSubscription Reader"])
  scope                = azurerm_eventgrid_topic.orders.id
  role_definition_name = each.value
  principal_id         = var.principal_id
}

output "scope" {
  description = "scope of the component"
  value       = azurerm_eventgrid_topic.orders.id
}
