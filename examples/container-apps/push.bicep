// One app of two containers: the application, and the binding beside it. The ingress of the app leads to handshakePort, so Event
// Grid reaches the binding; the binding reaches the application on localhost.
param name string = 'orders'
param location string = resourceGroup().location
param environmentId string
param applicationImage string
@description('Image of this project, from its Dockerfile.')
param bindingImage string
@description('The component (component.yaml beside this file), as one text.')
@secure()
param component string
@description('The secrets that the component refers to, as JSON.')
@secure()
param secrets string

resource app 'Microsoft.App/containerApps@2024-03-01' = {
  name: name
  location: location
  properties: {
    managedEnvironmentId: environmentId
    configuration: {
      secrets: [
        { name: 'orders-yaml', value: component }
        { name: 'secrets-json', value: secrets }
      ]
      ingress: {
        external: true
        targetPort: 9000
        transport: 'http'
        allowInsecure: false
      }
    }
    template: {
      // Event Grid keeps events while nothing runs, but nothing starts a replica for them: keep one.
      scale: { minReplicas: 1, maxReplicas: 5 }
      volumes: [
        { name: 'components', storageType: 'Secret', secrets: [ { secretRef: 'orders-yaml', path: 'orders.yaml' } ] }
        { name: 'secrets', storageType: 'Secret', secrets: [ { secretRef: 'secrets-json', path: 'secrets.json' } ] }
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
            '--secrets'
            '/secrets/secrets.json'
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
            { volumeName: 'secrets', mountPath: '/secrets' }
          ]
          probes: [
            { type: 'Liveness', httpGet: { port: 9464, path: '/healthz' } }
            { type: 'Readiness', httpGet: { port: 9464, path: '/readyz' } }
          ]
        }
      ]
    }
  }
}

output subscriberEndpoint string = 'https://${app.properties.configuration.ingress.fqdn}/api/events'
