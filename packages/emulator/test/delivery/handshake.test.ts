import { describe, expect, it } from 'vitest'
import type { EventSubscription } from '../../src/model/resources/event-subscription.ts'
import { type EventGrid, openEventGrid } from '../event-grid.ts'
import { type SubscriberAnswer, startSubscriber } from '../subscriber.ts'

const never = new AbortController().signal
const minute = 60_000

async function plainHttp(): Promise<number> {
  const subscriber = await startSubscriber()
  return Number(new URL(subscriber.url).port)
}

function validate(grid: EventGrid, eventDeliverySchema: 'CloudEventSchemaV1_0' | 'EventGridSchema', signal = never) {
  const subscription: EventSubscription = {
    id: `${grid.topic.id}/providers/Microsoft.EventGrid/eventSubscriptions/Sub1`,
    scope: grid.topic.id,
    name: 'Sub1',
    createdAt: 0,
    provisioningState: 'Creating',
    properties: {
      eventDeliverySchema,
      destination: {
        endpointType: 'WebHook',
        properties: { endpointUrl: 'https://subscriber.example/hook?code=s3cret' },
      },
    },
  }
  return grid.engine.validate(subscription, signal, { over: never })
}

const cloud = 'CloudEventSchemaV1_0'
const eventGrid = 'EventGridSchema'

describe('the CloudEvents handshake', () => {
  it('asks the exact URL by OPTIONS, with origin and callback and no body', async () => {
    const grid = await openEventGrid()
    expect(await validate(grid, cloud)).toEqual({ outcome: 'validated' })
    const [request] = grid.subscriber.requests
    expect(request).toMatchObject({ method: 'OPTIONS', url: '/hook?code=s3cret', body: '' })
    expect(request?.headers['webhook-request-origin']).toBe('eventgrid.azure.net')
    expect(request?.headers['accept-encoding']).toBe('gzip, deflate')
    expect(request?.headers['webhook-request-callback']).toMatch(
      new RegExp(
        '/eventsubscriptions/sub1/validate\\?id=[0-9A-F-]{36}&t=2026-01-05T14%3A07%3A09\\.0000000Z' +
          '&apiVersion=2025-04-01-preview&token=.+%3D$',
      ),
    )
    expect(request?.headers).not.toHaveProperty('webhook-request-rate')
    expect(request?.headers).not.toHaveProperty('authorization')
    expect(grid.records.handshakes.last).toMatchObject({ method: 'OPTIONS', status: 200, outcome: 'validated' })
  })

  it.each<{ name: string; allowed: string }>([
    { name: 'the origin', allowed: 'eventgrid.azure.net' },
    { name: 'everybody', allowed: '*' },
    { name: 'the origin in other letters', allowed: 'EventGrid.Azure.net' },
  ])('is granted to $name', async ({ allowed }) => {
    const grid = await openEventGrid()
    grid.subscriber.onHandshake(() => ({ status: 204, headers: { 'webhook-allowed-origin': allowed } }))
    expect(await validate(grid, cloud)).toEqual({ outcome: 'validated' })
  })

  it.each<{ name: string; answer: SubscriberAnswer; code: string }>([
    { name: '503', answer: { status: 503 }, code: 'ServiceUnavailable' },
    { name: '404', answer: { status: 404 }, code: 'NotFound' },
    { name: '405', answer: { status: 405 }, code: 'MethodNotAllowed' },
    { name: '413', answer: { status: 413 }, code: 'RequestEntityTooLarge' },
    { name: 'a redirect', answer: { status: 302, headers: { location: '/' } }, code: 'Found' },
    { name: 'a status without a name', answer: { status: 599 }, code: '599' },
    { name: '404 with consent', answer: { status: 404, headers: { 'webhook-allowed-origin': '*' } }, code: 'NotFound' },
    {
      name: 'consent for somebody else',
      answer: { status: 200, headers: { 'webhook-allowed-origin': 'a.example' } },
      code: 'OK',
    },
    { name: 'a closed connection', answer: 'drop', code: 'Unknown' },
  ])("fails after $name, in Event Grid's words", async ({ answer, code }) => {
    const grid = await openEventGrid()
    grid.subscriber.onHandshake(() => answer)
    const outcome = await validate(grid, cloud)
    expect(outcome).toMatchObject({ outcome: 'failed', code: 'Url validation' })
    const { message } = 'message' in outcome ? outcome : { message: '' }
    const [, , activity] =
      /^(.+ Activity id:)(([0-9a-f-]{36})), timestamp: 1\/5\/2026 2:07:09 PM \(UTC\)\.$/.exec(message) ?? []
    expect(message).toBe(
      'Webhook validation handshake failed for https://subscriber.example/hook. Http OPTIONS request ' +
        `failed with response code ${code}. For troublehooting, visit ` +
        `https://aka.ms/esvalidationcloudevent. Activity id:${activity}, timestamp: 1/5/2026 2:07:09 PM (UTC).`,
    )
    expect(grid.records.handshakes.last?.message).toContain(message)
  })

  it('that finds no host says that no ingress rule matches, in the error and in its record, without the query', async () => {
    const grid = await openEventGrid({ ingress: () => undefined })
    const outcome = await validate(grid, cloud)
    const hint =
      'no ingress rule matches https://subscriber.example/hook, and its host is unknown here: give an ' +
      'ingress rule from https://subscriber.example/ to http://127.0.0.1:PORT/'
    expect(outcome).toMatchObject({ message: expect.stringContaining(`(UTC). Emulator: ${hint}`) })
    const record = grid.records.handshakes.last?.message
    expect(record).toContain(hint)
    expect(record).toContain('getaddrinfo')
    expect(record).not.toContain('s3cret')
  })

  it('that meets plain http says so, and which ingress rule helps', async () => {
    const port = await plainHttp()
    const grid = await openEventGrid({ ingress: () => `https://127.0.0.1:${port}` })
    await validate(grid, cloud)
    expect(grid.records.handshakes.last?.message).toContain(
      `https://127.0.0.1:${port} speaks plain http there: use an ingress rule from ` +
        `https://subscriber.example/ to http://127.0.0.1:${port}/`,
    )
  })

  it('fails after thirty seconds without an answer', async () => {
    const grid = await openEventGrid()
    let asked = () => {}
    const arrived = new Promise<void>((resolve) => {
      asked = resolve
    })
    grid.subscriber.onHandshake(() => {
      asked()
      return undefined
    })
    const outcome = validate(grid, cloud)
    await arrived
    await grid.clock.advance(30_000)
    expect(await outcome).toMatchObject({ message: expect.stringContaining('response code Unknown') })
  })

  it('ends early when it is given up', async () => {
    const grid = await openEventGrid()
    const giveUp = new AbortController()
    grid.subscriber.onHandshake(() => {
      giveUp.abort()
      return undefined
    })
    expect(await validate(grid, cloud, giveUp.signal)).toMatchObject({ outcome: 'failed' })
  })
})

describe('the Event Grid handshake', () => {
  it('posts one validation event and takes its code for an answer', async () => {
    const grid = await openEventGrid()
    expect(await validate(grid, eventGrid)).toEqual({ outcome: 'validated' })
    const [request] = grid.subscriber.requests
    expect(request).toMatchObject({ method: 'POST', url: '/hook?code=s3cret' })
    expect(request?.headers).toMatchObject({
      'aeg-event-type': 'SubscriptionValidation',
      'aeg-subscription-name': 'SUB1',
      'content-type': 'application/json; charset=utf-8',
    })
    const [event, ...more] = JSON.parse(request?.body ?? '')
    expect(more).toEqual([])
    expect(event).toMatchObject({
      topic: grid.topic.id.replace('Microsoft.EventGrid', 'microsoft.eventgrid'),
      subject: '',
      eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
      eventTime: '2026-01-05T14:07:09.0000000Z',
      metadataVersion: '1',
    })
    expect(new URL(event.data.validationUrl).searchParams.get('id')).toBe(event.data.validationCode)
  })

  it.each<{ name: string; answer: SubscriberAnswer; code: string }>([
    { name: '202, even with the code', answer: { status: 202, body: '{}' }, code: 'Accepted' },
    { name: '500', answer: { status: 500 }, code: 'InternalServerError' },
    { name: 'a closed connection', answer: 'drop', code: 'Unknown' },
  ])('fails after $name', async ({ answer, code }) => {
    const grid = await openEventGrid()
    grid.subscriber.onHandshake(() => answer)
    expect(await validate(grid, eventGrid)).toMatchObject({
      outcome: 'failed',
      code: 'Url validation',
      message: expect.stringContaining(
        `Http POST request failed with response code ${code}. For troublehooting, visit https://aka.ms/esvalidation. `,
      ),
    })
  })

  it('is sent once more, five seconds after a time-out', async () => {
    const grid = await openEventGrid()
    let tries = 0
    let asked = () => {}
    const arrived = new Promise<void>((resolve) => {
      asked = resolve
    })
    grid.subscriber.onHandshake((request) => {
      tries++
      asked()
      if (tries === 1) return undefined
      return {
        status: 200,
        body: JSON.stringify({ validationResponse: JSON.parse(request.body)[0].data.validationCode }),
      }
    })
    const outcome = validate(grid, eventGrid)
    await arrived
    await grid.clock.advance(35_000)
    expect(await outcome).toEqual({ outcome: 'validated' })
    expect(tries).toBe(2)
  })
})

describe.each([
  { schema: cloud, answer: { status: 200 }, what: 'OPTIONS without consent' },
  {
    schema: eventGrid,
    answer: { status: 200, body: '{"validationResponse":"another"}' },
    what: 'a validation event without its code',
  },
] as const)('a 200 for $what', ({ schema, answer }) => {
  const open = async () => {
    const grid = await openEventGrid()
    grid.subscriber.onHandshake(() => answer)
    const outcome = await validate(grid, schema)
    if (outcome.outcome !== 'awaiting-manual-action') throw new Error(`unexpected ${outcome.outcome}`)
    const { pathname, search } = new URL(outcome.validationUrl)
    return { grid, outcome, url: new URL(pathname + search, grid.endpoint) }
  }

  it.each(['GET', 'POST'])('is completed by %s of the validation URL', async (method) => {
    const { outcome, url } = await open()
    const answer = await fetch(url, { method })
    expect(answer.status).toBe(200)
    expect(await outcome.completed).toBe('validated')
  })

  it('expires after ten minutes', async () => {
    const { grid, outcome, url } = await open()
    await grid.clock.advance(10 * minute)
    expect(await outcome.completed).toBe('expired')
    expect((await fetch(url)).status).toBe(400)
  })

  it('is not completed by a made-up token', async () => {
    const { url } = await open()
    url.searchParams.set('token', 'x')
    expect((await fetch(url)).status).toBe(400)
    expect((await fetch(new URL(url.pathname, url))).status).toBe(400)
  })
})
