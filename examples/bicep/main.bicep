// A topic, its event subscription with the credential that the binding checks, a container for dead letters, and the roles.
// The component beside it (component.yaml) has `provisioning: none`, or `check` to be told of differences.

@description('Name of the topic, and of the event subscription: 3 to 50 letters and digits.')
param name string = 'orders'

param location string = resourceGroup().location

@description('Public https address of the binding, with its path.')
param subscriberEndpoint string

@description('What "eventgrid-binding provision --show-token" prints as the value of the attribute.')
@secure()
param deliveryCredential string

@description('Storage account for dead letters, in this resource group.')
param storageAccountName string

@description('Object id of the identity that publishes; empty where the binding publishes with an access key.')
param publisherObjectId string = ''

@description('Object id of the identity that reads the event subscription, with provisioning: check. Empty with none.')
param readerObjectId string = ''

// Built-in roles of Event Grid.
var dataSender = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'd5a91429-5739-47e2-a06b-3470a27159e7')
var subscriptionReader = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '2414bbcf-6497-4faf-8c65-045460748405')

resource topic 'Microsoft.EventGrid/topics@2022-06-15' = {
  name: name
  location: location
  properties: {
    inputSchema: 'CloudEventSchemaV1_0'
  }
}

resource account 'Microsoft.Storage/storageAccounts@2023-05-01' existing = {
  name: storageAccountName
}

resource blobs 'Microsoft.Storage/storageAccounts/blobServices@2023-05-01' existing = {
  parent: account
  name: 'default'
}

resource deadLetters 'Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01' = {
  parent: blobs
  name: 'dead-letters'
}

// Event Grid sends the handshake when this is written: deploy it once the endpoint answers.
resource eventSubscription 'Microsoft.EventGrid/eventSubscriptions@2022-06-15' = {
  name: name
  scope: topic
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    destination: {
      endpointType: 'WebHook'
      properties: {
        endpointUrl: subscriberEndpoint
        deliveryAttributeMappings: [
          {
            name: 'X-EventGrid-Binding-Token'
            type: 'Static'
            properties: {
              isSecret: true
              value: deliveryCredential
            }
          }
        ]
      }
    }
    filter: {
      includedEventTypes: [
        'order.placed'
        'order.cancelled'
      ]
      enableAdvancedFilteringOnArrays: true
    }
    retryPolicy: {
      maxDeliveryAttempts: 30
      eventTimeToLiveInMinutes: 1440
    }
    deadLetterDestination: {
      endpointType: 'StorageBlob'
      properties: {
        resourceId: account.id
        blobContainerName: 'dead-letters'
      }
    }
  }
  dependsOn: [
    deadLetters
  ]
}

resource publishes 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(publisherObjectId)) {
  name: guid(topic.id, publisherObjectId, dataSender)
  scope: topic
  properties: {
    roleDefinitionId: dataSender
    principalId: publisherObjectId
    principalType: 'ServicePrincipal'
  }
}

resource reads 'Microsoft.Authorization/roleAssignments@2022-04-01' = if (!empty(readerObjectId)) {
  name: guid(topic.id, readerObjectId, subscriptionReader)
  scope: topic
  properties: {
    roleDefinitionId: subscriptionReader
    principalId: readerObjectId
    principalType: 'ServicePrincipal'
  }
}

output topicEndpoint string = topic.properties.endpoint
output scope string = topic.id
