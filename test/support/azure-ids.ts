/** Ids of resources in an Azure subscription that no emulator has: they are taken to be there. */
const elsewhere = '/subscriptions/1/resourceGroups/elsewhere/providers'

export const eventHubId = `${elsewhere}/Microsoft.EventHub/namespaces/hubs/eventhubs/orders`
export const functionId = `${elsewhere}/Microsoft.Web/sites/shop/functions/handle`
export const storageAccountId = `${elsewhere}/Microsoft.Storage/storageAccounts/letters`

/** A valid id for each kind of destination that is known by its id alone. */
export const destinationIds = {
  EventHub: eventHubId,
  HybridConnection: `${elsewhere}/Microsoft.Relay/namespaces/relay/hybridConnections/orders`,
  ServiceBusQueue: `${elsewhere}/Microsoft.ServiceBus/namespaces/bus/queues/orders`,
  ServiceBusTopic: `${elsewhere}/Microsoft.ServiceBus/namespaces/bus/topics/orders`,
  AzureFunction: functionId,
  NamespaceTopic: `${elsewhere}/Microsoft.EventGrid/namespaces/pull/topics/orders`,
} as const
