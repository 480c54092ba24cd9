import { expect, it } from 'vitest'
import type { Asking } from '../../../src/model/events/delivery-outcome.ts'
import type { EventSubscription } from '../../../src/model/resources/event-subscription.ts'
import { openEventGrid } from '../../event-grid.ts'

const never = new AbortController().signal

/** An Event Grid, and a handshake with its subscriber, who answers OPTIONS with the status and no consent. */
async function openHandshake(properties: EventSubscription['properties'] = {}) {
  const grid = await openEventGrid()
  const answer = { status: 200, body: '' }
  grid.subscriber.onHandshake(() => answer)
  const destination = {
    endpointType: 'WebHook',
    properties: { endpointUrl: 'https://subscriber.example/hook?code=s3cret' },
  }
  const subscription = {
    ...{
      id: `${grid.topic.id}/providers/Microsoft.EventGrid/eventSubscriptions/Sub1`,
      scope: grid.topic.id,
      name: 'Sub1',
    },
    ...{ createdAt: 0, provisioningState: 'Creating' },
    properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0', ...properties },
  } as EventSubscription
  const validate = (asking: Partial<Asking> = {}, signal = never) =>
    grid.engine.validate(subscription, signal, { over: never, ...asking })
  /** The id and the token of the validation URL that was handed out last. */
  const callback = () => {
    const { searchParams } = new URL(grid.records.handshakes.last?.requestHeaders['webhook-request-callback'] ?? '')
    return [searchParams.get('id') ?? '', searchParams.get('token') ?? ''] as const
  }
  const outcomes = () => grid.records.handshakes.all().map(({ outcome, status }) => `${outcome} ${status}`)
  return { grid, answer, subscription, validate, callback, outcomes }
}

it('is recorded with what was sent and answered, without the query of its URL', async () => {
  const { grid, answer, subscription, validate } = await openHandshake({ eventDeliverySchema: 'EventGridSchema' })
  answer.body = 'no s3cret here'
  await validate()
  const [request] = grid.subscriber.requests
  expect(grid.records.handshakes.last).toEqual({
    ...{ at: grid.clock.now(), subscriptionId: subscription.id, subscriptionName: 'Sub1', method: 'POST' },
    ...{ url: 'https://subscriber.example/hook?(redacted)', target: `${grid.subscriber.url}/hook?(redacted)` },
    ...{ requestHeaders: expect.objectContaining({ 'aeg-subscription-name': 'SUB1' }), requestBody: request?.body },
    ...{ status: 200, responseHeaders: expect.any(Object), responseBody: 'no (redacted) here' },
    ...{ outcome: 'awaiting-manual-action', message: expect.stringContaining('It is not asked again.') },
  })
})

it('asks nobody for a destination that is no webhook', async () => {
  const properties = { resourceId: '/subscriptions/s/storageAccounts/letters', queueName: 'orders' }
  const { grid, validate } = await openHandshake({ destination: { endpointType: 'StorageQueue', properties } })
  expect(await validate()).toEqual({ outcome: 'validated' })
  expect([grid.subscriber.requests, grid.records.handshakes.length]).toEqual([[], 0])
})

it('is done by its own URL, with its token, once', async () => {
  const { grid, validate, callback, outcomes } = await openHandshake()
  const outcome = await validate()
  const [id, token] = callback()
  const { confirmValidation } = grid.engine
  expect([
    confirmValidation('none', token),
    confirmValidation(id, ''),
    confirmValidation(id.toLowerCase(), token),
  ]).toEqual([false, false, true])
  expect(confirmValidation(id, token)).toBe(false)
  expect('completed' in outcome && (await outcome.completed)).toBe('validated')
  expect(outcomes()).toEqual(['awaiting-manual-action 200', 'validated 200'])
  expect(grid.clock.waiting).toBe(0)
})

it('leaves no URL open where the endpoint has refused or consented', async () => {
  const { grid, answer, validate, callback } = await openHandshake()
  answer.status = 404
  await validate()
  expect([grid.engine.confirmValidation(...callback()), grid.clock.waiting]).toEqual([false, 0])
})

it('asks again after each pause while it waits, tells what is new, and stops once there is consent', async () => {
  const { grid, answer, validate, outcomes } = await openHandshake()
  const outcome = await validate({ pauseMs: 1_000 })
  const asked = () => grid.subscriber.requests.length
  await grid.clock.advance(999)
  expect(asked()).toBe(1)
  await grid.clock.advance(1_001)
  await expect.poll(asked).toBe(3)
  expect(outcomes()).toEqual(['awaiting-manual-action 200'])
  answer.status = 404
  await grid.clock.advance(2_000)
  answer.status = 500
  await grid.clock.advance(1_000)
  answer.status = 200
  await grid.clock.advance(1_000)
  Object.assign(answer, { headers: { 'webhook-allowed-origin': '*' } })
  await grid.clock.advance(1_000)
  expect('completed' in outcome && (await outcome.completed)).toBe('validated')
  expect(outcomes()).toEqual([
    'awaiting-manual-action 200',
    'failed 404',
    'failed 500',
    'awaiting-manual-action 200',
    'validated 200',
  ])
  const all = asked()
  await grid.clock.advance(60_000)
  expect([asked(), grid.clock.waiting]).toEqual([all, 0])
})

it.each(['given up', 'over'])('is not asked again once it is %s', async (how) => {
  const { grid, validate, outcomes } = await openHandshake()
  const end = new AbortController()
  await (how === 'over' ? validate({ pauseMs: 1_000, over: end.signal }) : validate({ pauseMs: 1_000 }, end.signal))
  end.abort()
  await grid.clock.advance(60_000)
  expect(grid.subscriber.requests).toHaveLength(1)
  await grid.clock.advance(600_000)
  // One that is over has an end of its own, which is told there.
  expect(outcomes()).toEqual(['awaiting-manual-action 200', ...(how === 'over' ? [] : ['failed 200'])])
})

it('ends with the emulator', async () => {
  const { grid, validate, callback } = await openHandshake()
  const outcome = await validate()
  await grid.engine.close()
  expect('completed' in outcome && (await outcome.completed)).toBe('expired')
  expect(grid.engine.confirmValidation(...callback())).toBe(false)
})

it.each(['EventGridSchema', 'CloudEventSchemaV1_0'] as const)(
  'a validation event without an answer is sent once more, OPTIONS is not: %s',
  async (eventDeliverySchema) => {
    const { grid, validate } = await openHandshake({ eventDeliverySchema })
    grid.subscriber.onHandshake(() => undefined)
    const outcome = validate()
    await expect.poll(() => grid.subscriber.requests.length).toBe(1)
    await grid.clock.advance(35_000)
    const again = eventDeliverySchema === 'EventGridSchema'
    if (again) await expect.poll(() => grid.subscriber.requests.length).toBe(2)
    await grid.clock.advance(60_000)
    expect(await outcome).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('response code Unknown'),
    })
    expect(grid.subscriber.requests).toHaveLength(again ? 2 : 1)
  },
)
