/** Dead letters of topics: they need no public endpoint, since a queue that is gone gives up as well. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { between, oneOf, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudEvent, forType, subscribe, webhookAt } from './asking.ts'

/** A dead letter is written five minutes after the last try. */
const letterLimitMs = 12 * 60_000
/** Where there is a second try after five minutes. */
const secondTryLimitMs = 20 * 60_000

export const deadLetterTo = ({ made, container }: ProbeWorld, to = container) => ({
  deadLetterDestination: {
    endpointType: 'StorageBlob',
    properties: { resourceId: made.names.storage, blobContainerName: to },
  },
})

/** The blobs and events of the dead letters of an event subscription; empty where none came in time. */
export async function deadLettersOf(world: ProbeWorld, folder: string, limitMs = letterLimitMs) {
  const names = await world.until(limitMs, async () => {
    const found = await world.listBlobs(folder)
    return found.length > 0 ? found : undefined
  })
  const blobs = await Promise.all((names ?? []).map(async (name) => ({ name, content: await world.readBlob(name) })))
  return { name: blobs[0]?.name, content: blobs[0]?.content, event: firstOf(blobs[0]?.content) }
}

const firstOf = (content: unknown): unknown => (Array.isArray(content) ? content[0] : undefined)

/** An event that is given up because its queue is gone. */
async function giveUp(world: ProbeWorld, retryPolicy: object, limitMs = letterLimitMs) {
  const queue = await world.openQueue()
  const type = world.unique()
  const id = await subscribe(world, forType(type, queue.destination, { ...deadLetterTo(world), retryPolicy }))
  await queue.remove()
  await world.publish(world.made.cloud, [cloudEvent(type)])
  const published = world.clock.now()
  const name = id.slice(id.lastIndexOf('/') + 1)
  const letters = await deadLettersOf(world, `${name.toUpperCase()}/`, limitMs)
  return {
    ...letters,
    isArray: Array.isArray(letters.content),
    seconds: Math.round((world.clock.now() - published) / 1000),
  }
}

const oneAttempt = { maxDeliveryAttempts: 1, eventTimeToLiveInMinutes: 60 }

export const deadLetterProbes: readonly Probe[] = [
  ...(
    [
      [
        'dead-letter-blob',
        'the name of the blob',
        { name: text(/^[A-Z\d-]+\/20\d\d\/\d{1,2}\/\d{1,2}\/\d{1,2}\/[\da-f-]{36}\.json$/) },
      ],
      ['dead-letter-array', 'the content of the blob', { isArray: true }],
      ['dead-letter-five-minutes', 'when it is written', { seconds: between(280, 900) }],
      [
        'dead-letter-fields',
        'what a CloudEvent gets',
        {
          event: {
            ...{ id: 'one', deadletterreason: present, deliveryattempts: 1, lastdeliveryoutcome: present },
            ...{ publishtime: present, lastdeliveryattempttime: present },
          },
        },
      ],
      [
        'dead-letter-attempts',
        'the reason when the attempts are used up',
        { event: { deadletterreason: 'MaxDeliveryAttemptsExceeded' } },
      ],
      [
        'dead-letter-outcomes',
        'the outcome of a queue that is not there',
        { event: { lastdeliveryoutcome: oneOf('NotFound') } },
      ],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({ ...{ fact, asks, expected, needs: ['storage'] }, ask: (world) => giveUp(world, oneAttempt) }),
  ),
  probe({
    fact: 'dead-letter-time-to-live',
    asks: 'the reason when the time to live ends first',
    needs: ['storage'],
    ask: (world) => giveUp(world, { maxDeliveryAttempts: 30, eventTimeToLiveInMinutes: 1 }, secondTryLimitMs),
    expected: { event: { deadletterreason: 'TimeToLiveExceeded' } },
  }),
  probe({
    fact: 'dead-letter-client-error',
    asks: 'the reason after a webhook that answers 400',
    needs: ['storage', 'push'],
    async ask(world) {
      const { url } = world.openPush({ deliveries: () => ({ status: 400 }) })
      const type = world.unique()
      const id = await subscribe(world, forType(type, webhookAt(url), deadLetterTo(world)))
      await world.publish(world.made.cloud, [cloudEvent(type)])
      const { event } = await deadLettersOf(world, `${id.slice(id.lastIndexOf('/') + 1).toUpperCase()}/`)
      return isRecord(event) ? { reason: event.deadletterreason, outcome: event.lastdeliveryoutcome } : {}
    },
    expected: { reason: 'UndeliverableDueToClientError', outcome: 'BadRequest' },
  }),
]
