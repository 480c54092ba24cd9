/**
 * Drives every part of the binding with marked secrets, in a process of its own, and prints all there is to print: log lines, answers, and
 * every object it gets hold of, to any depth. `secrets.test.ts` searches the output and the files it leaves. With PLANT_A_LEAK it prints
 * one on purpose, and nothing else.
 */
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { inspect } from 'node:util'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import * as library from '../../src/index.ts'
import { quickRetries } from '../support/quick-retries.ts'
import { marks } from './marks.ts'

const { Binding, BindingError, component, parseComponents } = library

if (process.env.PLANT_A_LEAK) {
  console.error(`could not log in with ${marks.clientSecret}`)
  process.exit()
}

const deep = { depth: Number.POSITIVE_INFINITY, showHidden: true }

/** Prints a value in every way that a host might. */
function show(title: string, value: unknown): void {
  console.log(title, inspect(value, { ...deep, getters: true, maxStringLength: null, maxArrayLength: null }))
  try {
    console.log(title, JSON.stringify(value), String(value))
  } catch {
    console.log(title, 'is not for JSON')
  }
}

async function showRefusal(title: string, work: () => unknown): Promise<void> {
  try {
    await work()
    console.log(`${title}: went well`)
  } catch (error) {
    show(title, error)
    if (error instanceof Error) console.log(error.stack, inspect(error.cause, deep))
    if (!(error instanceof BindingError)) console.log(`${title}: NOT A BINDING ERROR`)
  }
}

async function showAnswer(port: number | undefined, title: string, request: RequestInit): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/events`, request)
  show(title, { status: answer.status, headers: [...answer.headers], body: await answer.text() })
}

const contributor = 'EventGrid EventSubscription Contributor'
const emulator = await EventGridEmulator.start({
  clients: [{ clientId: 'tour', clientSecret: marks.clientSecret, roles: [{ role: contributor }] }],
  topics: [{ name: 'orders', keys: [marks.accessKey, marks.otherKey] }],
  retrySchedule: quickRetries,
  deadLetterDelay: 0,
})
const topic = emulator.topic('orders')
const fields = {
  tenantId: emulator.tenantId,
  subscriptionId: emulator.subscriptionId,
  clientId: 'tour',
  clientSecret: marks.clientSecret,
  subscriberEndpoint: `https://tour.example.com/api/events?code=${marks.query}`,
  handshakePort: '0',
  scope: topic.id,
  eventSubscriptionName: 'tour',
  topicEndpoint: topic.endpoint,
  accessKey: marks.accessKey,
}

const yaml = `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: tour }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
${Object.entries(fields)
  .map(([name, value]) =>
    name === 'accessKey'
      ? `    - { name: accessKey, secretKeyRef: { name: key } }`
      : `    - { name: ${name}, value: "${value}" }`,
  )
  .join('\n')}
`
const parsed = parseComponents(yaml, { file: 'tour.yaml', secrets: { key: marks.accessKey } })
show('parsed components', parsed)
await showRefusal('a broken document', () => parseComponents(yaml.replace('kind: Component', 'kind: [')))
await showRefusal('an unresolved secret', () => parseComponents(yaml, { secrets: { other: marks.accessKey } }))

// Where the changes leave the metadata valid, the handshake fails: nobody listens there.
emulator.setIngress(() => 'http://127.0.0.1:1')
const hasty = { ...fields, subscriptionTimeout: '100ms' }
for (const [field, value] of Object.entries(fields)) {
  await showRefusal(`${field} doubled`, () => new Binding().init({ ...hasty, [field]: `${value} ${value}` }))
  await showRefusal(`${field} as a list`, () => new Binding().init({ ...hasty, [field]: [value] }))
  await showRefusal(`${field} twice`, () => new Binding().init({ ...hasty, [field.toUpperCase()]: `${value}x` }))
  await showRefusal(`${field} misspelt`, () =>
    new Binding().init({ ...hasty, [field]: undefined, [`${field}x`]: value }),
  )
}
for (const deliveryToken of [marks.deliveryToken, 'short', `${marks.deliveryToken},`, `["${marks.deliveryToken}"]`]) {
  await showRefusal('deliveryToken', () => new Binding().init({ ...hasty, deliveryToken, maxConcurrency: 'many' }))
}

/** The delivery token, as the event subscription carries it. */
function attributeValue(): string {
  const destination = emulator.eventSubscription(topic.id, 'tour')?.properties.destination
  const mappings =
    destination?.endpointType === 'WebHook' ? destination.properties.deliveryAttributeMappings : undefined
  const mapping = mappings?.find(({ name }) => name === 'X-EventGrid-Binding-Token')
  if (mapping?.type !== 'Static') throw new Error('the event subscription carries no token')
  return mapping.properties.value
}

const rejecting = { type: 'reject', data: 1 }
let failing = true
const binding = new Binding({
  endpoints: emulator.endpoints,
  logger: console,
  onEvent(event) {
    show('event', event)
    if (event.cloudEvent.id === 'reject') throw new library.RejectEvent(`no: ${event.cloudEvent.id}`)
    if (event.cloudEvent.id === 'fail' && failing) {
      failing = false
      throw new Error('fails once')
    }
  },
})
show('a binding', binding)

const init = (changes: Record<string, string> = {}) => binding.init({ ...hasty, ...changes })
await showRefusal('a wrong secret', () => init({ clientSecret: `${marks.clientSecret}-but-wrong` }))
emulator.removeRoles('tour')
await showRefusal('no role', () => init())
emulator.assignRole('tour', contributor)
emulator.unregisterProvider()
await showRefusal('no provider', () => init())
emulator.registerProvider()
for (const status of [503, 404]) {
  const server = createServer((_request, response) => response.writeHead(status).end())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const address = server.address()
  emulator.setIngress(() => (typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : undefined))
  await showRefusal(`a handshake answered ${status}`, () => init())
  server.close()
}
emulator.setIngress(({ pathname, search }) => `http://127.0.0.1:${binding.address()?.port ?? 1}${pathname}${search}`)
for (const status of [409, 429, 500]) {
  emulator.failNext({ route: 'arm', times: 1_000, status })
  await showRefusal(`ARM answers ${status}`, () => init())
  emulator.clearFaults()
}
await showRefusal('init', () => binding.init(parsed[0]))
show('a live binding', binding)
show('health', binding.health())
await showRefusal('a second init', () => init())

const invoke = (payload: unknown, metadata: Record<string, string> = {}) =>
  binding.invoke('create', payload, { metadata })
show('an answer of create', await invoke({ hello: 'world' }))
for (const id of ['fail', 'reject']) await invoke(rejecting, { id })
await emulator.settled()
await showRefusal('another operation', () => binding.invoke(String('get'), {}))
await showRefusal('no payload', () => invoke(undefined))
emulator.failNext({ route: 'topic', times: 1, status: 401 })
await showRefusal('a topic that refuses', () => invoke({}))
emulator.failNext({ route: 'topic', times: 1, status: 413 })
await showRefusal('a topic that has enough', () => invoke({}))

const port = binding.address()?.port
const headers = { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': 'TOUR' }
const token = attributeValue()
writeFileSync('token.txt', token)
const post = (more: Record<string, string>, body = '{}') => ({ method: 'POST', headers: { ...headers, ...more }, body })
await showAnswer(port, 'no token', post({}))
await showAnswer(port, 'a wrong token', post({ 'x-eventgrid-binding-token': `${token}x` }))
await showAnswer(port, 'an unknown token', post({ 'x-eventgrid-binding-token': `x${token}` }))
await showAnswer(port, 'no event', post({ 'x-eventgrid-binding-token': token }))
await showAnswer(port, 'no JSON', post({ 'x-eventgrid-binding-token': token }, '{'))
await showAnswer(port, 'a bearer', post({ authorization: `Bearer ${marks.bearer}` }))
await showAnswer(port, 'health', { method: 'OPTIONS' })
await showAnswer(port, 'another method', { method: 'PUT', body: '{}' })
show('the library', library)
show('the descriptor', component)

await binding.close()
show('a closed binding', binding)
await emulator.close()
