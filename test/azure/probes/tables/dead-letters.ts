/** Dead letters of topics: they need no public endpoint, since a queue that is gone gives up as well. */
import { between, oneOf, type Pattern, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probesWith } from '../probe.ts'
import { cloudEvent, forType, loudNameOf, subscribe, webhookAt } from './asking.ts'

/** A dead letter is written five minutes after the last try. */
const letterLimitMs = 12 * 60_000
/** Where there is a second try after five minutes. */
const secondTryLimitMs = 20 * 60_000

export const deadLetterTo = ({ made, container }: ProbeWorld) => {
  const properties = { resourceId: made.names.storage, blobContainerName: container }
  return { deadLetterDestination: { endpointType: 'StorageBlob', properties } }
}

/** The blobs and events of the dead letters of an event subscription; empty where none came in time. */
export async function deadLettersOf(world: ProbeWorld, folder: string, limitMs = letterLimitMs) {
  const names = await world.until(limitMs, async () => {
    const found = await world.listBlobs(folder)
    return found.length > 0 ? found : undefined
  })
  const blobs = await Promise.all((names ?? []).map(async (name) => ({ name, content: await world.readBlob(name) })))
  const { name, content } = blobs[0] ?? {}
  const event: unknown = Array.isArray(content) ? content[0] : undefined
  return { name, content, event }
}

/** An event that is given up because its queue is gone. */
async function giveUp(world: ProbeWorld, retryPolicy: object, limitMs = letterLimitMs) {
  const queue = await world.openQueue()
  const type = world.unique()
  const id = await subscribe(world, forType(type, queue.destination, { ...deadLetterTo(world), retryPolicy }))
  await queue.remove()
  await world.publish(world.made.cloud, [cloudEvent(type)])
  const published = world.clock.now()
  const letters = await deadLettersOf(world, `${loudNameOf(id)}/`, limitMs)
  const seconds = Math.round((world.clock.now() - published) / 1000)
  return { ...letters, isArray: Array.isArray(letters.content), seconds }
}

const stored = probesWith('storage')

/** Of an event that is given up after the first attempt. */
const givenUp = (fact: string, asks: string, expected: Pattern) =>
  stored(fact, asks, {
    ask: (world) => giveUp(world, { maxDeliveryAttempts: 1, eventTimeToLiveInMinutes: 60 }),
    expected,
  })

export const deadLetterProbes: readonly Probe[] = [
  givenUp('dead-letter-blob', 'the name of the blob', {
    name: text(/^[A-Z\d-]+\/20\d\d\/\d{1,2}\/\d{1,2}\/\d{1,2}\/[\da-f-]{36}\.json$/),
  }),
  givenUp('dead-letter-array', 'the content of the blob', { isArray: true }),
  givenUp('dead-letter-five-minutes', 'when it is written', { seconds: between(280, 900) }),
  givenUp('dead-letter-fields', 'what a CloudEvent gets', {
    event: {
      ...{ id: 'one', deadletterreason: present, deliveryattempts: 1, lastdeliveryoutcome: present },
      ...{ publishtime: present, lastdeliveryattempttime: present },
    },
  }),
  givenUp('dead-letter-attempts', 'the reason when the attempts are used up', {
    event: { deadletterreason: 'MaxDeliveryAttemptsExceeded' },
  }),
  givenUp('dead-letter-outcomes', 'the outcome of a queue that is not there', {
    event: { lastdeliveryoutcome: oneOf('NotFound') },
  }),
  stored('dead-letter-time-to-live', 'the reason when the time to live ends first', {
    ask: (world) => giveUp(world, { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1 }, secondTryLimitMs),
    expected: { event: { deadletterreason: 'TimeToLiveExceeded' } },
  }),
  probesWith('storage', 'push')('dead-letter-client-error', 'the reason after a webhook that answers 400', {
    async ask(world) {
      const { url } = world.openPush({ deliveries: () => ({ status: 400 }) })
      const type = world.unique()
      const id = await subscribe(world, forType(type, webhookAt(url), deadLetterTo(world)))
      await world.publish(world.made.cloud, [cloudEvent(type)])
      return deadLettersOf(world, `${loudNameOf(id)}/`)
    },
    expected: { event: { deadletterreason: 'UndeliverableDueToClientError', lastdeliveryoutcome: 'BadRequest' } },
  }),
]
