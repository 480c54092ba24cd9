// The same app by pull delivery: no ingress, no key. A managed identity receives and publishes.
param name string = 'orders'
param location string = resourceGroup().location
param environmentId string
param applicationImage string
@description('Image of this project, from its Dockerfile.')
param bindingImage string
@description('Event Grid namespace with the topic, in this resource group.')
param namespaceName string
param namespaceTopic string = 'orders'

var dataReceiver = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', '78cbd9e7-9798-4e2e-9b5a-547d9ebb31fb')
var dataSender = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', 'd5a91429-5739-47e2-a06b-3470a27159e7')

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31' = {
  name: name
  location: location
}

resource namespace 'Microsoft.EventGrid/namespaces@2025-02-15' existing = {
  name: namespaceName
}

resource topic 'Microsoft.EventGrid/namespaces/topics@2025-02-15' existing = {
  parent: namespace
  name: namespaceTopic
}

resource queue 'Microsoft.EventGrid/namespaces/topics/eventSubscriptions@2025-02-15' = {
  parent: topic
  name: name
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    deliveryConfiguration: {
      deliveryMode: 'Queue'
      queue: {
        receiveLockDurationInSeconds: 60
        maxDeliveryCount: 10
        eventTimeToLive: 'P1D'
      }
    }
  }
}

resource roles 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for role in [dataReceiver, dataSender]: {
  name: guid(topic.id, name, role)
  scope: topic
  properties: {
    roleDefinitionId: role
    principalId: identity.properties.principalId
    principalType: 'ServicePrincipal'
  }
}]

var endpoint = 'https://${namespace.properties.topicsConfiguration.hostname}'
// Not the short form `{ name: a, value: b }`: format() takes a brace for the place of an argument, as String.Format of .NET does.
var component = '''
apiVersion: dapr.io/v1alpha1
kind: Component
metadata:
  name: orders
spec:
  type: bindings.cloud.eventrouter
  version: v1
  metadata:
    - name: deliveryMode
      value: pull
    - name: provisioning
      value: none
    - name: azureCredential
      value: managedIdentity
    - name: clientId
      value: "{0}"
    - name: namespaceTopic
      value: "{1}"
    - name: eventSubscriptionName
      value: "{2}"
    - name: namespaceEndpoint
      value: "{3}"
    - name: topicEndpoint
      value: "{3}/topics/{4}:publish"
    - name: topicAuthentication
      value: entra
'''

resource app 'Microsoft.App/containerApps@2024-03-01' = {
  name: name
  location: location
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    managedEnvironmentId: environmentId
    configuration: {
      secrets: [
        {
          name: 'orders-yaml'
          value: format(component, identity.properties.clientId, topic.id, name, endpoint, namespaceTopic)
        }
      ]
    }
    template: {
      scale: { minReplicas: 1, maxReplicas: 5 }
      volumes: [
        { name: 'components', storageType: 'Secret', secrets: [ { secretRef: 'orders-yaml', path: 'orders.yaml' } ] }
      ]
      containers: [
        {
          name: 'application'
          image: applicationImage
          resources: { cpu: json('0.25'), memory: '0.5Gi' }
        }
        {
          name: 'eventgrid-binding'
          image: bindingImage
          args: [
            'run'
            '--components'
            '/components'
            '--app-port'
            '3000'
            '--metrics-port'
            '9464'
            // Probes come from outside of the container.
            '--metrics-address'
            '0.0.0.0'
            '--log-format'
            'json'
          ]
          resources: { cpu: json('0.25'), memory: '0.5Gi' }
          volumeMounts: [
            { volumeName: 'components', mountPath: '/components' }
          ]
          probes: [
            { type: 'Liveness', httpGet: { port: 9464, path: '/healthz' } }
          ]
        }
      ]
    }
  }
  dependsOn: [
    queue
    roles
  ]
}
