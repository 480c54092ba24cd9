import { describe, expect, it } from 'vitest'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import { cloudEventText, eventGridText, openListener } from './open-listener.ts'

const origin = 'eventgrid.azure.net'

describe('OPTIONS with an origin', () => {
  it.each([origin, 'EventGrid.Azure.net'])('grants Event Grid of the configured cloud, as %s', async (sent) => {
    const { request } = await openListener()
    const answer = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': sent } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('webhook-allowed-origin')).toBe(sent)
    expect(answer.headers.get('webhook-allowed-rate')).toBe('*')
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
  })

  it('grants an origin that a proxy has doubled, and gives it once', async () => {
    const { raw } = await openListener()
    const doubled = `webhook-request-origin: ${origin}\r\nwebhook-request-origin: EventGrid.azure.net`
    const answer = await raw(`OPTIONS /api/events HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${doubled}\r\n\r\n`)
    expect(answer).toContain(`webhook-allowed-origin: ${origin}\r\n`)
  })

  it('grants any rate, whatever rate is asked for', async () => {
    const { request } = await openListener()
    const headers = { 'webhook-request-origin': origin, 'webhook-request-rate': '120' }
    const answer = await request({ method: 'OPTIONS', headers })
    expect(answer.headers.get('webhook-allowed-rate')).toBe('*')
  })

  it.each([
    { name: 'another', sent: 'eventgrid.example.com' },
    { name: 'two that differ', sent: `${origin}, eventgrid.example.com` },
  ])('grants nothing to an origin that is $name, and warns of it', async ({ sent }) => {
    const { request, log } = await openListener()
    const answer = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': sent } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    for (const name of ['origin', 'rate']) expect(answer.headers.has(`webhook-allowed-${name}`)).toBe(false)
    expect(await answer.text()).toBe('')
    expect(log.lines).toMatchObject([{ level: 'warn', fields: { origin: sent } }])
  })

  it('follows the configured cloud', async () => {
    const { request } = await openListener({ input: { environment: azureEnvironments.AzureUSGovernmentCloud } })
    const granted = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': 'eventgrid.azure.us' } })
    const refused = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': origin } })
    expect(granted.headers.get('webhook-allowed-origin')).toBe('eventgrid.azure.us')
    expect(refused.headers.get('webhook-allowed-origin')).toBeNull()
  })

  it('still consents while draining, since another replica may be the one that is asked next', async () => {
    const { request, listener } = await openListener()
    await listener.drain()
    const answer = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': origin } })
    expect(answer.headers.get('webhook-allowed-origin')).toBe(origin)
  })
})

describe('OPTIONS without an origin', () => {
  it('answers 200 with the health of the binding in the body', async () => {
    const { request } = await openListener({ health: () => ({ status: 'degraded', input: { handler: 'missing' } }) })
    // A proxy may make an empty header of one that is missing.
    const answer = await request({ method: 'OPTIONS', headers: { 'webhook-request-origin': ' ' } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('webhook-allowed-origin')).toBeNull()
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(await answer.json()).toEqual({ status: 'degraded', input: { handler: 'missing' } })
  })

  it('answers 200 although no handler is there', async () => {
    const { request } = await openListener({ handler: undefined })
    expect((await request({ method: 'OPTIONS' })).status).toBe(200)
  })

  it('answers 503 while draining', async () => {
    const { request, listener } = await openListener()
    await listener.drain()
    const answer = await request({ method: 'OPTIONS' })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
    expect(answer.headers.get('retry-after')).toBe('30')
  })

  it('answers 500 without internals when the health cannot be read', async () => {
    const failing = () => {
      throw new Error('marked internals')
    }
    const { request } = await openListener({ health: failing })
    const answer = await request({ method: 'OPTIONS' })
    expect(answer.status).toBe(500)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.text()).not.toContain('marked')
  })
})

const validation = {
  validationCode: '512D38B6-C7B8-40C8-89FE-F46F9E9622B6',
  validationUrl: 'https://rp.example.com:553/v',
}
const asEventGrid = `[${eventGridText('v', {
  eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
  subject: '',
  data: validation,
})}]`
const asCloudEvent = (data: unknown) =>
  cloudEventText('v', { type: 'Microsoft.EventGrid.SubscriptionValidationEvent', data })

describe('SubscriptionValidation', () => {
  const headers = { 'X-EventGrid-Binding-Token': undefined, 'aeg-event-type': 'SubscriptionValidation' }

  it.each([
    { name: 'an array of one Event Grid event', body: asEventGrid },
    { name: 'one CloudEvent', body: asCloudEvent(validation) },
    { name: 'an array of one CloudEvent', body: `[${asCloudEvent(validation)}]` },
    { name: 'one CloudEvent with data as JSON in a string', body: asCloudEvent(JSON.stringify(validation)) },
  ])('answers the code of $name, without a credential and without an event', async ({ body }) => {
    const { deliver, events, log } = await openListener()
    const answer = await deliver(body, headers)
    expect(answer.status).toBe(200)
    expect(log.lines).toEqual([])
    expect(answer.headers.get('content-type')).toBe('application/json')
    const text = JSON.stringify({ validationResponse: validation.validationCode })
    expect(answer.headers.get('content-length')).toBe(String(text.length))
    expect(await answer.text()).toBe(text)
    expect(events).toHaveLength(0)
  })

  it.each([
    { name: 'no JSON', body: '{' },
    { name: 'no event', body: '7' },
    { name: 'a list of no event', body: '[7]' },
    { name: 'data that is no JSON', body: asCloudEvent('{') },
    { name: 'an empty code', body: asCloudEvent({ validationCode: '' }) },
    { name: 'no code', body: asCloudEvent({ validationUrl: validation.validationUrl }) },
    { name: 'a code that is no text', body: asCloudEvent({ validationCode: 7 }) },
    { name: 'a code that is too long', body: asCloudEvent({ validationCode: 'x'.repeat(1_025) }) },
    { name: 'two events', body: `[${asCloudEvent(validation)},${asCloudEvent(validation)}]` },
    { name: 'a code in the prototype', body: '{"data":{"__proto__":{"validationCode":"x"}}}' },
  ])('answers 400 to $name, and logs it', async ({ body }) => {
    const { deliver, log } = await openListener()
    expect((await deliver(body, headers)).status).toBe(400)
    expect(log.text()).toContain('its body cannot be read')
  })

  it('answers a code of 1,024 characters', async () => {
    const { deliver } = await openListener()
    const validationCode = 'x'.repeat(1_024)
    const answer = await deliver(asCloudEvent({ validationCode }), headers)
    expect(await answer.json()).toEqual({ validationResponse: validationCode })
  })

  it('says that this replica takes no deliveries yet, as the answer to OPTIONS does', async () => {
    const { deliver, request } = await openListener({ mayBeRouted: () => false })
    const ready = await openListener()
    const options = { method: 'OPTIONS', headers: { 'webhook-request-origin': origin } }
    const says = (answers: Response[]) => answers.map((answer) => answer.headers.get('x-eventgrid-binding-not-ready'))
    expect(says([await deliver(asEventGrid, headers), await request(options)])).toEqual(['true', 'true'])
    expect(says([await ready.deliver(asEventGrid, headers), await ready.request(options)])).toEqual([null, null])
  })

  it('is answered before a handler is there', async () => {
    const { deliver } = await openListener({ handler: undefined })
    expect((await deliver(asEventGrid, headers)).status).toBe(200)
  })
})

describe('SubscriptionDeletion', () => {
  it('is acknowledged, logged and not handed on', async () => {
    const { deliver, events, log } = await openListener()
    const body = eventGridText('d', { eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent' })
    expect((await deliver(`[${body}]`, { 'aeg-event-type': 'SubscriptionDeletion' })).status).toBe(200)
    expect(events).toHaveLength(0)
    expect(log.text()).toContain('was deleted')
  })

  it('is told once to who keeps the event subscription, and not that of a former one', async () => {
    let told = 0
    const { deliver, log } = await openListener({ onSubscriptionDeleted: () => told++ })
    const notice = (name: string) =>
      deliver('[]', { 'aeg-event-type': 'SubscriptionDeletion', 'aeg-subscription-name': name })
    expect((await notice('FORMER')).status).toBe(200)
    expect([told, log.text()]).toEqual([0, ''])
    expect((await notice('ORDERS')).status).toBe(200)
    expect(told).toBe(1)
  })
})
