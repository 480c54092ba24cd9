/**
 * The main job, end to end, on the built-in emulator: `npm start`, or `npm start -- --keep` to look around afterwards.
 *
 * Everything between the lines that say "emulator" is what a host runtime does against Azure itself.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Binding, parseComponents, type ReceivedEvent, RejectEvent } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { createLedger } from './ledger.ts'
import { demonstratePull } from './pull.ts'
import { note, paint, progress, step } from './show.ts'

const usage =
  'Usage: npm start -- [--keep | --pull] [--events N]\n  --keep  stays up afterwards\n' +
  '  --pull  by pull delivery, without a public endpoint\n  N is 400 by default'
const options = readOptions()
const total = Number(options.events ?? 400)
if (!Number.isInteger(total) || total < 10 || total > 100_000) refuse('--events takes a whole number from 10 to 100000')

if (options.pull) process.exit((await demonstratePull(total)) ? 0 : 1)

const example = (path: string) => new URL(`../${path}`, import.meta.url)
const samples = readdirSync(example('events/')).map((file) =>
  JSON.parse(readFileSync(example(`events/${file}`), 'utf8')),
)
const tenantId = '7e57ed00-0000-4000-8000-000000000001'
const subscriptionId = '5ab5c21b-0000-4000-8000-000000000002'
const clientId = 'c11e0700-0000-4000-8000-000000000003'
const clientSecret = 'the-secret-of-the-demo-client'

step('The emulator stands in for Azure: Event Grid, Resource Manager and Entra')
const emulator = await EventGridEmulator.start({
  clients: [{ tenantId, clientId, clientSecret, roles: [{ role: 'EventGrid EventSubscription Contributor' }] }],
  subscriptions: [{ id: subscriptionId, resourceGroups: ['shop'] }],
  topics: [
    { name: 'orders', inputSchema: 'CloudEventSchemaV1_0' },
    { name: 'resources', inputSchema: 'EventGridSchema' },
  ],
  // Event Grid waits ten seconds before the second try; nobody wants to watch that.
  retrySchedule: [300],
  deadLetterDelay: 0,
})
note(`Resource Manager and Entra at ${emulator.endpoints.resourceManager}, with a CA of its own`)

step('Component YAML becomes two components')
const components = parseComponents(readFileSync(example('components/demo.yaml'), 'utf8'), {
  file: 'examples/components/demo.yaml',
  env: {
    ORDERS_TOPIC_ENDPOINT: emulator.topic('orders').endpoint,
    RESOURCES_TOPIC_ENDPOINT: emulator.topic('resources').endpoint,
  },
  secrets: {
    'event-grid': {
      clientSecret,
      ordersAccessKey: emulator.topic('orders').key,
      resourcesAccessKey: emulator.topic('resources').key,
    },
  },
})
for (const { name, type } of components) note(`${name}: ${type}`)

const ledger = createLedger(total)
const warmUpPrefix = 'warm-up-'
const warmUpEvents = 400
let show: ((done: number) => void) | undefined

/** The application: it handles events, fails one once, and rejects one for good. */
function handle({ cloudEvent, metadata }: ReceivedEvent): void {
  const { id } = cloudEvent
  if (id.startsWith(warmUpPrefix)) return
  if (id === ledger.failsOnce && metadata['aeg-delivery-count'] === '0') {
    ledger.failed()
    throw new Error('the handler fails once, on purpose')
  }
  if (id === ledger.rejected) throw new RejectEvent('the handler rejects this one, on purpose')
  ledger.handled(id, Number(metadata['aeg-delivery-count']))
  show?.(ledger.delivered())
}

step('init: listener up, event subscription created through ARM, handshake answered')
const bindings = new Map<string, Binding>()
emulator.setIngress(({ hostname, pathname }) => {
  const [name = ''] = hostname.split('.')
  return `http://127.0.0.1:${bindings.get(name)?.address()?.port}${pathname}`
})
for (const component of components) {
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent: handle })
  bindings.set(component.name, binding)
  await binding.init(component)
  const { method, url, status, responseHeaders } = emulator.records.handshakes.last ?? {}
  note(`${component.name}: listening on port ${binding.address()?.port}`)
  note(`   handshake  ${method} ${url} → ${status},`)
  note(`              webhook-allowed-origin: ${responseHeaders?.['webhook-allowed-origin']}`)
  const { id, provisioningState } = emulator.eventSubscriptions().find(({ name }) => name === component.name) ?? {}
  note(`   ${paint('green', provisioningState ?? 'missing')}`)
  note(`      ${id}`)
}

step(`create: ${total} events of ${samples.length} kinds, each kept as a file in examples/events`)
const [orders, resources] = [bindings.get('orders'), bindings.get('resources')]
if (!orders || !resources) throw new Error('examples/components/demo.yaml holds the components orders and resources')
/** Publishes an event for each id, each kind of event in turn. Several parts of an application publish at once. */
async function publish(ids: readonly string[], published: (id: string) => void = () => {}): Promise<void> {
  const unpublished = ids.entries()
  const caller = async () => {
    for (const [index, id] of unpublished) {
      const event = { ...samples[index % samples.length], id }
      published(id)
      await ('specversion' in event ? orders : resources)?.invoke('create', event)
    }
  }
  // Calls that meet share a request to the topic.
  await Promise.all(Array.from({ length: 16 }, caller))
}

note(`${warmUpEvents} events go ahead and are not counted:`)
note('the first ones wait for connections and for code to be compiled')
await publish(Array.from({ length: warmUpEvents }, (_, index) => `${warmUpPrefix}${index}`))
await emulator.settled()
show = progress('delivered', total - 1)
await publish(ledger.ids, ledger.published)
await emulator.settled()

step('One failure was redelivered, one rejection dead-lettered')
for (const { eventIds, deliveryCount, status, outcome } of emulator.records.deliveries.all()) {
  for (const id of eventIds) {
    if (id === ledger.failsOnce) note(`${id}  try ${deliveryCount + 1}: ${status}, ${outcome}`)
    if (id === ledger.rejected) note(`${id}  try ${deliveryCount + 1}: ${status}, ${outcome}`)
  }
}
for (const { blobPath, events } of emulator.records.deadLetters.all()) {
  ledger.deadLettered(events)
  note('dead letter:')
  note(`  ${blobPath}`)
}

step('Every event accounted for')
const complete = ledger.report()
if (complete && !options.keep) {
  note('Next: npm start -- --keep stays up and shows what to try;')
  note('docs/getting-started.md sets up a binding of your own.')
}

if (options.keep) {
  step('Still up: try it from another shell, end it with Ctrl-C')
  const { httpEndpoint, key } = emulator.topic('orders')
  const body = '[{"specversion":"1.0","id":"mine","source":"/me","type":"hello","data":{"from":"curl"}}]'
  note(`all events on a page: ${emulator.proxy}/`)
  note('publish to the topic, as anybody with its key may:')
  note(
    `  curl -i '${httpEndpoint}' -H 'aeg-sas-key: ${key}' -H 'content-type: application/cloudevents-batch+json' -d '${body}'`,
  )
  note('ask the listener how it is:')
  note(`  curl -i -X OPTIONS http://127.0.0.1:${orders.address()?.port}/api/events`)
  note('shake hands as Event Grid does:')
  note(
    `  curl -i -X OPTIONS http://127.0.0.1:${orders.address()?.port}/api/events -H 'WebHook-Request-Origin: eventgrid.azure.net'`,
  )
  note('deliver without the token, as a stranger would:')
  note(
    `  curl -i http://127.0.0.1:${orders.address()?.port}/api/events -H 'content-type: application/cloudevents+json' -d '{}'`,
  )
  orders.read(({ cloudEvent }) =>
    note(`received ${cloudEvent.type} ${cloudEvent.id} ${JSON.stringify(cloudEvent.data)}`),
  )
  await new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop))
}

await Promise.all([...bindings.values()].map((binding) => binding.close()))
await emulator.close()
process.exitCode = complete ? 0 : 1

function readOptions() {
  const help = { type: 'boolean', short: 'h' } as const
  try {
    const { values } = parseArgs({
      options: { help, keep: { type: 'boolean' }, pull: { type: 'boolean' }, events: { type: 'string' } },
    })
    if (!values.help) return values
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error))
  }
  console.log(usage)
  process.exit(0)
}

function refuse(complaint: string): never {
  console.error(`${complaint}\n${usage}`)
  process.exit(2)
}
