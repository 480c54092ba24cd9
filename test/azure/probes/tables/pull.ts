/** Namespaces: what the data plane answers, and dead letters of a Queue. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { between, oneOf, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudEvent } from './asking.ts'
import { deadLettersOf } from './dead-letters.ts'

const structured = { 'content-type': 'application/cloudevents+json; charset=utf-8' }
const json = { 'content-type': 'application/json' }

/** A Queue event subscription that gets events of one type alone. */
async function openPull(world: ProbeWorld, queue: object = {}) {
  const { arm, made, unique, namespace } = world
  const [name, type] = [unique(), unique()]
  const id = `${made.namespace?.topicId}/eventSubscriptions/${name}`
  const properties = {
    deliveryConfiguration: { deliveryMode: 'Queue', queue: { receiveLockDurationInSeconds: 60, ...queue } },
    filtersConfiguration: { includedEventTypes: [type] },
  }
  const { end, error } = await arm.write('PUT', id, { body: { properties } })
  if (end !== 'Succeeded')
    throw new Error(`the Queue was not made: ${end} ${error?.code ?? ''} ${error?.message ?? ''}`)
  const at = `topics/${made.namespace?.topic}`
  return {
    ...{ id, name, type },
    publish: (event: object, headers: Readonly<Record<string, string>> = structured) =>
      namespace(`${at}:publish`, { body: event, headers }),
    /** The first event that comes, with its lock token. */
    async receive(query = 'maxEvents=10&maxWaitTime=60') {
      const { status, body } = await namespace(`${at}/eventsubscriptions/${name}:receive?${query}`, {
        limitMs: 150_000,
      })
      const value: readonly unknown[] = isRecord(body) && Array.isArray(body.value) ? body.value : []
      const [first] = value
      const { event, brokerProperties: broker } = isRecord(first) ? first : {}
      const { lockToken, deliveryCount } = isRecord(broker) ? broker : {}
      return { status, body, count: value.length, event, deliveryCount, token: String(lockToken) }
    },
    settle: (operation: string, token: string) =>
      namespace(`${at}/eventsubscriptions/${name}:${operation}`, { body: { lockTokens: [token] }, headers: json }),
  }
}

const ofTopic = ({ made }: ProbeWorld, path: string) => `topics/${made.namespace?.topic}${path}`

/** An event that the receiver rejects, and its dead letter. */
async function reject(world: ProbeWorld, { binary = false } = {}) {
  const { made, container } = world
  const queue = await openPull(world, {
    deadLetterDestinationWithResourceIdentity: {
      identity: { type: 'SystemAssigned' },
      deadLetterDestination: {
        endpointType: 'StorageBlob',
        properties: { resourceId: made.names.storage, blobContainerName: container },
      },
    },
  })
  if (binary) {
    const context = { 'ce-id': 'one', 'ce-source': '/probe', 'ce-type': queue.type, 'ce-specversion': '1.0' }
    await queue.publish({ amount: 5 }, { ...json, ...context })
  } else await queue.publish(cloudEvent(queue.type))
  const { token } = await queue.receive()
  await queue.settle('reject', token)
  const folder = `${made.names.namespace.slice(made.names.namespace.lastIndexOf('/') + 1)}/${made.namespace?.topic}/${queue.name}/`
  return deadLettersOf(world, folder)
}

const deadLetterNeeds = ['storage', 'namespace', 'namespace dead letters'] as const

export const pullProbes: readonly Probe[] = [
  probe({
    fact: 'pull-lock',
    asks: 'the first receive of an event',
    needs: ['namespace'],
    async ask(world) {
      const queue = await openPull(world)
      const published = await queue.publish(cloudEvent(queue.type))
      const { status, count, deliveryCount, event } = await queue.receive()
      return { published: published.body, status, count, deliveryCount, event }
    },
    expected: { published: {}, status: 200, count: 1, deliveryCount: 1, event: { id: 'one', data: { amount: 5 } } },
  }),
  probe({
    fact: 'pull-wait',
    asks: 'a receive where no event is',
    needs: ['namespace'],
    async ask(world) {
      const queue = await openPull(world)
      const { status, body } = await queue.receive('maxEvents=1&maxWaitTime=10')
      return { status, body }
    },
    expected: { status: 200, body: { value: [] } },
  }),
  probe({
    fact: 'pull-settle',
    asks: 'a token that was acknowledged before, and one that is none',
    needs: ['namespace'],
    async ask(world) {
      const queue = await openPull(world)
      await queue.publish(cloudEvent(queue.type))
      const { token } = await queue.receive()
      await queue.settle('acknowledge', token)
      const again = await queue.settle('acknowledge', token)
      const bad = await queue.settle('acknowledge', 'no token')
      return { again: { status: again.status, body: again.body }, bad: { status: bad.status, body: bad.body } }
    },
    expected: {
      again: { status: 200, body: { succeededLockTokens: [], failedLockTokens: [{ error: { code: 'TokenLost' } }] } },
      bad: { status: 200, body: { succeededLockTokens: [], failedLockTokens: [{ error: { code: 'BadToken' } }] } },
    },
  }),
  probe({
    fact: 'pull-again',
    asks: 'an event that was released with a delay of ten seconds',
    needs: ['namespace'],
    async ask(world) {
      const queue = await openPull(world)
      await queue.publish(cloudEvent(queue.type))
      const { token } = await queue.receive()
      const released = world.clock.now()
      await world.namespace(ofTopic(world, `/eventsubscriptions/${queue.name}:release?releaseDelayInSeconds=10`), {
        ...{ body: { lockTokens: [token] }, headers: json },
      })
      const { deliveryCount } = await queue.receive()
      return { deliveryCount, seconds: Math.round((world.clock.now() - released) / 1000) }
    },
    expected: { deliveryCount: 2, seconds: between(8, 60) },
  }),
  probe({
    fact: 'pull-times',
    asks: 'a time with an offset and zeros',
    needs: ['namespace'],
    async ask(world) {
      const queue = await openPull(world)
      await queue.publish(cloudEvent(queue.type, { time: '2026-01-05T10:12:46.2525140-07:00' }))
      return (await queue.receive()).event
    },
    expected: { time: '2026-01-05T17:12:46.252514Z' },
  }),
  probe({
    fact: 'pull-times',
    asks: 'a text that is no time',
    needs: ['namespace'],
    async ask(world) {
      const body = cloudEvent('probe.time', { time: 'yesterday' })
      return (await world.namespace(ofTopic(world, ':publish'), { body, headers: structured })).status
    },
    expected: 400,
  }),
  probe({
    fact: 'pull-unknown',
    asks: 'an unknown topic',
    needs: ['namespace'],
    async ask({ namespace }) {
      const { status, headers } = await namespace('topics/none:publish', {
        body: cloudEvent('probe.none'),
        headers: structured,
      })
      return { status, code: headers['broker-errorcode'] }
    },
    expected: { status: 404, code: 'NotFound' },
  }),
  probe({
    fact: 'pull-unknown',
    asks: 'an unknown event subscription',
    needs: ['namespace'],
    async ask(world) {
      return (await world.namespace(ofTopic(world, '/eventsubscriptions/none:receive?maxWaitTime=10'))).status
    },
    expected: 404,
  }),
  probe({
    fact: 'pull-unknown',
    asks: 'a wrong key',
    needs: ['namespace'],
    async ask(world) {
      const headers = { ...structured, authorization: `SharedAccessKey ${Buffer.alloc(32, 9).toString('base64')}` }
      return (await world.namespace(ofTopic(world, ':publish'), { body: cloudEvent('probe.key'), headers })).status
    },
    expected: 401,
  }),
  ...['maxWaitTime=9', 'maxWaitTime=121', 'maxEvents=0', 'maxEvents=101'].map((query) =>
    probe({
      fact: 'pull-arguments',
      asks: `a receive with ${query}`,
      needs: ['namespace'],
      async ask(world) {
        const { status, body } = await world.namespace(ofTopic(world, `/eventsubscriptions/app:receive?${query}`))
        return { status, body }
      },
      expected: { status: 400, body: { error: { code: 'ArgumentInvalid' } } },
    }),
  ),
  probe({
    fact: 'pull-publish-refused',
    asks: 'a CloudEvent without data',
    needs: ['namespace'],
    async ask(world) {
      const { data: _data, ...body } = cloudEvent('probe.data')
      const { status, body: answer } = await world.namespace(ofTopic(world, ':publish'), { body, headers: structured })
      return { status, answer }
    },
    expected: {
      status: 400,
      answer: { error: { message: text(/'data' attribute is required/), timestamp_utc: present } },
    },
  }),
  probe({
    fact: 'pull-binary',
    asks: 'binary mode without a content type',
    needs: ['namespace'],
    async ask(world) {
      const headers = {
        'ce-id': 'one',
        'ce-source': '/probe',
        'ce-type': 'probe',
        'ce-specversion': '1.0',
        'content-type': '',
      }
      return (await world.namespace(ofTopic(world, ':publish'), { body: '{}', headers })).status
    },
    expected: 400,
  }),
  probe({
    fact: 'pull-actions',
    asks: 'getDeliveryAttributes and getFullUrl of a Queue',
    needs: ['namespace'],
    async ask(world) {
      const { id } = await openPull(world)
      const post = async (action: string) => {
        const { status, body } = await world.arm.send('POST', `${id}/${action}`)
        return { status, body }
      }
      return { attributes: await post('getDeliveryAttributes'), url: await post('getFullUrl') }
    },
    expected: {
      attributes: { status: 200, body: { value: oneOf(null) } },
      url: { status: 200, body: { endpointUrl: oneOf(null) } },
    },
  }),
  ...(
    [
      [
        'pull-dead-letter-blob',
        'the name of the blob',
        { name: text(/\/20\d\d\/\d{1,2}\/\d{1,2}\/\d{1,2}\/[\da-f-]{36}\.json$/) },
      ],
      [
        'pull-dead-letter',
        'what a rejected event gets',
        {
          event: {
            ...{ id: 'one', customDeliveryProperties: {} },
            deadletterProperties: {
              ...{ deadletterreason: 'Rejected by the receiver', deliveryattempts: 1, deliveryresult: 'GeneralError' },
              ...{ publishutc: present, deliveryattemptutc: present },
            },
          },
        },
      ],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({ ...{ fact, asks, expected, needs: deadLetterNeeds }, ask: (world) => reject(world) }),
  ),
  probe({
    fact: 'pull-dead-letter-binary',
    asks: 'where a rejected event of binary mode stands',
    needs: deadLetterNeeds,
    ask: (world) => reject(world, { binary: true }),
    expected: { event: { event: { id: 'one' }, deadletterProperties: present } },
  }),
  probe({
    fact: 'pull-time-to-live',
    asks: 'an eventTimeToLive of 59 seconds',
    needs: ['namespace'],
    async ask({ arm, made, unique }) {
      const deliveryConfiguration = { deliveryMode: 'Queue', queue: { eventTimeToLive: 'PT59S' } }
      const id = `${made.namespace?.topicId}/eventSubscriptions/${unique()}`
      return (await arm.send('PUT', id, { body: { properties: { deliveryConfiguration } } })).status
    },
    expected: 400,
  }),
]
