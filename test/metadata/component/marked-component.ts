/** A component file in which what may be secret says MARKED. */
export const markedComponent = `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: orders }
spec:
  type: bindings.azure.eventgrid
  metadata:
    - { name: handshakePort, value: 9000 } # MARKED comment
    - { name: clientSecret, value: "MARKED: a, secret" }
    - { name: accessKey, value: MARKED, valeu: x }
    - name: topicEndpoint
      value: https://orders.example/api/events?code=MARKED
    - { name: MARKED1, value: other }
    - { name: scope, secretKeyRef: { name: store, key: scope } }
`
