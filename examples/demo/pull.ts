/** `npm start -- --pull`: the main job by pull delivery. The binding needs the key of a namespace, and no public endpoint. */
import { readdirSync, readFileSync } from 'node:fs'
import { Binding, parseComponents, type ReceivedEvent, RejectEvent } from 'eventgrid-binding'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { createLedger } from './ledger.ts'
import { note, progress, step } from './show.ts'

const example = (path: string) => new URL(`../${path}`, import.meta.url)

/** Runs the demo. True where every event is accounted for. */
export async function demonstratePull(total: number): Promise<boolean> {
  // A namespace topic takes CloudEvents with data.
  const samples = readdirSync(example('events/'))
    .map((file) => JSON.parse(readFileSync(example(`events/${file}`), 'utf8')))
    .filter((event) => event.specversion !== undefined && event.data !== undefined)

  step('The emulator stands in for Azure: a namespace with a topic and a queue')
  const emulator = await EventGridEmulator.start({
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
  })
  const topic = emulator.namespaceTopic('orders')
  note('namespace topic:')
  note(`  ${topic.id}`)

  const ledger = createLedger(total)
  let show: ((done: number) => void) | undefined
  function handle({ cloudEvent, metadata }: ReceivedEvent): void {
    const { id } = cloudEvent
    if (id === ledger.failsOnce && metadata['aeg-delivery-count'] === '0') {
      ledger.failed()
      throw new Error('the handler fails once, on purpose')
    }
    if (id === ledger.rejected) throw new RejectEvent('the handler rejects this one, on purpose')
    ledger.handled(id, Number(metadata['aeg-delivery-count']))
    show?.(ledger.delivered())
  }

  step('init: no listener, no handshake; the binding asks the namespace for events')
  const [component] = parseComponents(readFileSync(example('pull/orders.yaml'), 'utf8'), {
    file: 'examples/pull/orders.yaml',
    secrets: { 'event-grid': { namespaceKey: topic.key } },
  })
  const binding = new Binding({ endpoints: emulator.endpoints, onEvent: handle })
  await binding.init({
    name: component?.name ?? 'orders',
    properties: {
      ...component?.properties,
      // The emulator in the place of Azure's addresses.
      namespaceTopic: topic.id,
      namespaceEndpoint: topic.namespaceEndpoint,
      topicEndpoint: topic.endpoint,
      accessKey: topic.key,
    },
  })
  note(`receiving: ${binding.health().input?.status}`)

  step(`create: ${total} events to the namespace topic`)
  show = progress('received', total - 1)
  const unpublished = ledger.ids.entries()
  const publish = async () => {
    for (const [index, id] of unpublished) {
      ledger.published(id)
      await binding.invoke('create', { ...samples[index % samples.length], id })
    }
  }
  await Promise.all(Array.from({ length: 16 }, publish))
  await emulator.settled()

  step('One failure was received again, one rejection dead-lettered')
  for (const { events } of emulator.records.deadLetters.all()) ledger.deadLettered(events)
  note(`received ${binding.health().input?.pull?.received} times`)
  for (const queue of emulator.queues().values()) note(`left in the queue: ${JSON.stringify(queue)}`)

  await binding.close()
  await emulator.close()
  step('Every event accounted for')
  return ledger.report()
}
