/** What compiles and what does not: compiled by front-door.test.ts, never run. */
import {
  Binding,
  type BindingComponent,
  type BindingError,
  type ComponentDescriptor,
  component,
  type EventHandler,
  isBindingError,
  loadComponents,
  parseComponents,
  routeEvents,
} from 'eventgrid-binding'
import type { Connectable } from 'eventgrid-binding/emulator'
import { parse } from 'yaml'
import { z } from 'zod'

interface Order {
  readonly order: string
}

declare const given: unknown
declare const strings: Record<string, string>
declare const operation: string
declare const takesText: (text: string) => void

const binding = new Binding({
  onEvent: async ({ cloudEvent, metadata, signal }) => [cloudEvent.type, metadata, signal.aborted],
})
// Its bytes are a body of `fetch`, also by the types of a browser, which a compiler without the option `lib` has.
binding.read(({ data, signal }) => fetch('http://127.0.0.1:3000/orders', { method: 'POST', body: data, signal }))

await binding.init({ tenantId: 'x', azureClientId: 'y', handshakePort: '9000', clientSecret: process.env.SECRET })
await binding.init({ name: 'orders', properties: { topicEndpoint: 'https://orders.example.com', accessKey: 'k' } })
await binding.init({ name: 'orders', properties: [{ name: 'accessKey', value: 'k' }] })
await binding.init(given)
await binding.init(strings)
await binding.init(parse('a: 1'))
for (const component of parseComponents('')) await binding.init(component, { subscription: 'background' })
await binding.init({
  apiVersion: 'dapr.io/v1alpha1',
  kind: 'Component',
  metadata: { name: 'orders' },
  spec: { type: 'bindings.azure.eventgrid', version: 'v1', metadata: [{ name: 'accessKey', value: 'k' }] },
})
await binding.init({
  deliveryMode: 'pull',
  azureCredential: 'managedIdentity',
  azureCloud: 'AzureChina',
  labels: 'default',
})
await binding.init({ name: 'orders', properties: { eventDeliverySchema: 'default', replaceDestination: 'true' } })
const widened = { deliveryMode: 'pull', namespaceKey: 'k' }
await binding.init(widened)
// @ts-expect-error: deliveryMode is push or pull
await binding.init({ deliveryMode: 'pul' })
// @ts-expect-error: azureCloud is a name of azureEnvironment
await binding.init({ azureCloud: 'AzureGermany' })
// @ts-expect-error: provisioning is manage, check or none
await binding.init({ name: 'orders', properties: { provisioning: 'off' } })
// @ts-expect-error: the field is tenantId
await binding.init({ tenantID: 'x' })
// @ts-expect-error: the field is handshakePort
await binding.init({ tenantId: 'x', handshakePrt: '9000' })
// @ts-expect-error: a value is a string
await binding.init({ handshakePort: 9000 })
// @ts-expect-error: the field is tenantId
await binding.init({ name: 'orders', properties: { tenantID: 'x' } })
// @ts-expect-error: a text is no component; parseComponents reads it
await binding.init('apiVersion: dapr.io/v1alpha1')

const answer = await binding.invoke('create', 1)
takesText(answer.metadata.ids)
answer.ids.map(takesText)
await binding.invoke(operation, 1)
// @ts-expect-error: the operation is create
await binding.invoke('crate', 1)

const portOf = (error: BindingError) => (error.code === 'PORT_UNAVAILABLE' ? error.details.port : undefined)
if (isBindingError(given)) {
  portOf(given)
  switch (given.code) {
    case 'PUBLISH_UNAVAILABLE':
      given.details.ids?.map(takesText)
      break
    case 'SCOPE_NOT_FOUND':
      takesText(given.details.azureCode ?? '')
      // @ts-expect-error: these are facts of a create
      takesText(given.details.ids)
      break
    // @ts-expect-error: there is no such code
    case 'SCOPE_MISSING':
  }
}

const ofOrders: EventHandler<Order> = ({ cloudEvent }) => takesText(cloudEvent.data.order)
binding.read(ofOrders)
binding.read(undefined)

const router = routeEvents()
  .on('Microsoft.Storage.BlobCreated', ({ cloudEvent }) => {
    const url: string | undefined = cloudEvent.data.url
    // @ts-expect-error: a created blob has no such field
    return [url, cloudEvent.data.nothing]
  })
  .on('order.placed', z.object({ order: z.string() }), ({ cloudEvent }) => takesText(cloudEvent.data.order))
  .on('order.placed.late', z.object({ order: z.string() }), ofOrders, { onInvalid: 'retry' })
  // @ts-expect-error: the schema says string
  .on('order.paid', z.object({ order: z.string() }), ({ cloudEvent }) => cloudEvent.data.order * 2)
  .on('order.*', ({ cloudEvent }) => {
    // @ts-expect-error: without a schema the data is unknown
    return cloudEvent.data.order
  })
  .otherwise('ignore')
new Binding({ onEvent: router })
// @ts-expect-error: there is no such choice
routeEvents().otherwise('drop')

const fromFiles = await loadComponents(['components'], {
  secrets: async ({ store, name, key }) => `${store}/${name}/${key}`,
})
for (const { name, sides, port, secretStore, scopes } of fromFiles) {
  const known: readonly [string, readonly ('input' | 'output')[], number | undefined] = [name, sides, port]
  const whose: readonly [string | undefined, readonly string[] | undefined] = [secretStore, scopes]
  void [known, whose]
}
await loadComponents('components', { secrets: { stores: { 'vault-a': { 'event-grid': { accessKey: 'k' } } } } })
// @ts-expect-error: parseComponents answers at once
parseComponents('', { secrets: async () => 'k' })
const components = parseComponents('')
const [first] = components
// Whether there is one is seen at run time: `noUncheckedIndexedAccess` is off in many a project.
await binding.init(first)
await binding.init(components.find(({ name }) => name === 'orders'))
// @ts-expect-error: all components of a text are no component
await binding.init(components)
// @ts-expect-error: nor are some
await binding.init(components.filter(({ name }) => name === 'orders'))
// @ts-expect-error: nor is a list of entries
await binding.init([{ name: 'accessKey', value: 'k' }])
// @ts-expect-error: nor is an empty list
await binding.init([])
// @ts-expect-error: undefined is no component
await binding.init(undefined)
// @ts-expect-error: null is no component
await binding.init(null)
// @ts-expect-error: a number is no component
await binding.init(7)
// @ts-expect-error: a promise of a component has to be awaited
await binding.init(Promise.resolve(first))
declare const listOrComponent: typeof components | (typeof components)[number]
// @ts-expect-error: it may be a list
await binding.init(listOrComponent)
declare const anyList: readonly unknown[]
// @ts-expect-error: a list of anything is no component
await binding.init(anyList)

// A host takes bindings of any vendor, and the emulator each of them.
declare const another: ComponentDescriptor
const plugins: readonly ComponentDescriptor[] = [component, another]
const plugin: BindingComponent | undefined = plugins[0]?.create({ onEvent: ofOrders })
if (plugin && first) await plugin.init(first, { sides: ['input'] })
await plugin?.update({ name: 'orders', properties: { accessKey: 'k' } })
const connectable: Connectable | undefined = plugin
takesText((await plugin?.invoke(operation, connectable))?.metadata.ids ?? '')
component.create({ endpoints: {} }).health().input?.answered[200]?.toFixed()
plugin?.health().input?.answered?.[200]?.toFixed()
// @ts-expect-error: another vendor's binding may not count this
plugin?.health().input?.answered[200]
// @ts-expect-error: the field is tenantId
await binding.update({ tenantID: 'x' })
// @ts-expect-error: a side is input or output
await binding.close({ sides: ['inputs'] })
