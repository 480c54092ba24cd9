/** Namespaces: what the data plane answers, and dead letters of a Queue. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { nameOf } from '../../plan/names.ts'
import { between, oneOf, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probesWith } from '../probe.ts'
import { cloudEvent } from './asking.ts'
import { deadLettersOf, deadLetterTo } from './dead-letters.ts'

const structured = { 'content-type': 'application/cloudevents+json; charset=utf-8' }
const json = { 'content-type': 'application/json' }

/** Calls the data plane of the topic. */
const callTopic = ({ made, namespace }: ProbeWorld, path: string, options?: Parameters<ProbeWorld['namespace']>[1]) =>
  namespace(`topics/${made.namespace?.topic}${path}`, options)

/** What the topic answers to an event. */
export const publish = (world: ProbeWorld, body: unknown, headers: Readonly<Record<string, string>> = structured) =>
  callTopic(world, ':publish', { body, headers })

/** A Queue event subscription that gets events of one type alone. */
async function openPull(world: ProbeWorld, queue: object = {}) {
  const { arm, made, unique } = world
  const [name, type] = [unique(), unique()]
  const id = `${made.namespace?.topicId}/eventSubscriptions/${name}`
  const properties = {
    deliveryConfiguration: { deliveryMode: 'Queue', queue: { receiveLockDurationInSeconds: 60, ...queue } },
    filtersConfiguration: { includedEventTypes: [type] },
  }
  const { end, error } = await arm.write('PUT', id, { body: { properties } })
  if (end !== 'Succeeded')
    throw new Error(`the Queue was not made: ${end} ${error?.code ?? ''} ${error?.message ?? ''}`)
  const at = `/eventsubscriptions/${name}`
  return {
    ...{ id, name, type },
    /** The first event that comes, with its lock token. */
    async receive(query = 'maxEvents=10&maxWaitTime=60') {
      const { status, body } = await callTopic(world, `${at}:receive?${query}`, { limitMs: 150_000 })
      const value: readonly unknown[] = isRecord(body) && Array.isArray(body.value) ? body.value : []
      const [first] = value
      const { event, brokerProperties: broker } = isRecord(first) ? first : {}
      const { lockToken, deliveryCount } = isRecord(broker) ? broker : {}
      return { status, body, count: value.length, event, deliveryCount, token: String(lockToken) }
    },
    settle: (operation: string, token: string) =>
      callTopic(world, `${at}:${operation}`, { body: { lockTokens: [token] }, headers: json }),
  }
}

/** An event that the receiver rejects, and its dead letter. */
async function reject(world: ProbeWorld, { binary = false } = {}) {
  const { made } = world
  const queue = await openPull(world, {
    deadLetterDestinationWithResourceIdentity: { identity: { type: 'SystemAssigned' }, ...deadLetterTo(world) },
  })
  if (binary) {
    const context = { 'ce-id': 'one', 'ce-source': '/probe', 'ce-type': queue.type, 'ce-specversion': '1.0' }
    await publish(world, { amount: 5 }, { ...json, ...context })
  } else await publish(world, cloudEvent(queue.type))
  const { token } = await queue.receive()
  await queue.settle('reject', token)
  return deadLettersOf(world, `${nameOf(made.names.namespace)}/${made.namespace?.topic}/${queue.name}/`)
}

const pulled = probesWith('namespace')
const deadLettered = probesWith('storage', 'namespace', 'namespace dead letters')

export const pullProbes: readonly Probe[] = [
  pulled('pull-lock', 'the first receive of an event', {
    async ask(world) {
      const queue = await openPull(world)
      const published = await publish(world, cloudEvent(queue.type))
      return { published: published.body, ...(await queue.receive()) }
    },
    expected: { published: {}, status: 200, count: 1, deliveryCount: 1, event: { id: 'one', data: { amount: 5 } } },
  }),
  pulled('pull-wait', 'a receive where no event is', {
    ask: async (world) => (await openPull(world)).receive('maxEvents=1&maxWaitTime=10'),
    expected: { status: 200, body: { value: [] } },
  }),
  pulled('pull-settle', 'a token that was acknowledged before, and one that is none', {
    async ask(world) {
      const queue = await openPull(world)
      await publish(world, cloudEvent(queue.type))
      const { token } = await queue.receive()
      await queue.settle('acknowledge', token)
      const again = await queue.settle('acknowledge', token)
      return { again, bad: await queue.settle('acknowledge', 'no token') }
    },
    expected: {
      again: { status: 200, body: { succeededLockTokens: [], failedLockTokens: [{ error: { code: 'TokenLost' } }] } },
      bad: { status: 200, body: { succeededLockTokens: [], failedLockTokens: [{ error: { code: 'BadToken' } }] } },
    },
  }),
  pulled('pull-again', 'an event that was released with a delay of ten seconds', {
    async ask(world) {
      const queue = await openPull(world)
      await publish(world, cloudEvent(queue.type))
      const { token } = await queue.receive()
      const released = world.clock.now()
      await queue.settle('release?releaseDelayInSeconds=10', token)
      const { deliveryCount } = await queue.receive()
      return { deliveryCount, seconds: Math.round((world.clock.now() - released) / 1000) }
    },
    expected: { deliveryCount: 2, seconds: between(8, 60) },
  }),
  pulled('pull-times', 'a time with an offset and zeros', {
    async ask(world) {
      const queue = await openPull(world)
      await publish(world, cloudEvent(queue.type, { time: '2026-01-05T10:12:46.2525140-07:00' }))
      return (await queue.receive()).event
    },
    expected: { time: '2026-01-05T17:12:46.252514Z' },
  }),
  pulled('pull-times', 'a text that is no time', {
    ask: (world) => publish(world, cloudEvent('probe.time', { time: 'yesterday' })),
    expected: { status: 400 },
  }),
  pulled('pull-unknown', 'an unknown topic', {
    ask: ({ namespace }) => namespace('topics/none:publish', { body: cloudEvent('probe.none'), headers: structured }),
    expected: { status: 404, headers: { 'broker-errorcode': 'NotFound' } },
  }),
  pulled('pull-unknown', 'an unknown event subscription', {
    ask: (world) => callTopic(world, '/eventsubscriptions/none:receive?maxWaitTime=10'),
    expected: { status: 404 },
  }),
  pulled('pull-unknown', 'a wrong key', {
    ask(world) {
      const authorization = `SharedAccessKey ${Buffer.alloc(32, 9).toString('base64')}`
      return publish(world, cloudEvent('probe.key'), { ...structured, authorization })
    },
    expected: { status: 401 },
  }),
  ...['maxWaitTime=9', 'maxWaitTime=121', 'maxEvents=0', 'maxEvents=101'].map((query) =>
    pulled('pull-arguments', `a receive with ${query}`, {
      ask: (world) => callTopic(world, `/eventsubscriptions/app:receive?${query}`),
      expected: { status: 400, body: { error: { code: 'ArgumentInvalid' } } },
    }),
  ),
  pulled('pull-publish-refused', 'a CloudEvent without data', {
    ask: (world) => publish(world, cloudEvent('probe.data', { data: undefined })),
    expected: {
      status: 400,
      body: { error: { message: text(/'data' attribute is required/), timestamp_utc: present } },
    },
  }),
  pulled('pull-binary', 'binary mode without a content type', {
    ask(world) {
      const context = { 'ce-id': 'one', 'ce-source': '/probe', 'ce-type': 'probe', 'ce-specversion': '1.0' }
      return publish(world, '{}', { ...context, 'content-type': '' })
    },
    expected: { status: 400 },
  }),
  pulled('pull-actions', 'getDeliveryAttributes and getFullUrl of a Queue', {
    async ask(world) {
      const { id } = await openPull(world)
      const attributes = await world.arm.send('POST', `${id}/getDeliveryAttributes`)
      return { attributes, url: await world.arm.send('POST', `${id}/getFullUrl`) }
    },
    expected: {
      attributes: { status: 200, body: { value: oneOf(null) } },
      url: { status: 200, body: { endpointUrl: oneOf(null) } },
    },
  }),
  deadLettered('pull-dead-letter-blob', 'the name of the blob', {
    ask: (world) => reject(world),
    expected: { name: text(/\/20\d\d\/\d{1,2}\/\d{1,2}\/\d{1,2}\/[\da-f-]{36}\.json$/) },
  }),
  deadLettered('pull-dead-letter', 'what a rejected event gets', {
    ask: (world) => reject(world),
    expected: {
      event: {
        ...{ id: 'one', customDeliveryProperties: {} },
        deadletterProperties: {
          ...{ deadletterreason: 'Rejected by the receiver', deliveryattempts: 1, deliveryresult: 'GeneralError' },
          ...{ publishutc: present, deliveryattemptutc: present },
        },
      },
    },
  }),
  deadLettered('pull-dead-letter-binary', 'where a rejected event of binary mode stands', {
    ask: (world) => reject(world, { binary: true }),
    expected: { event: { event: { id: 'one' }, deadletterProperties: present } },
  }),
  pulled('pull-time-to-live', 'an eventTimeToLive of 59 seconds', {
    ask({ arm, made, unique }) {
      const deliveryConfiguration = { deliveryMode: 'Queue', queue: { eventTimeToLive: 'PT59S' } }
      const id = `${made.namespace?.topicId}/eventSubscriptions/${unique()}`
      return arm.send('PUT', id, { body: { properties: { deliveryConfiguration } } })
    },
    expected: { status: 400 },
  }),
]
