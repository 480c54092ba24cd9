import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { openShop } from './open-page.ts'

const cloudEvent = { specversion: '1.0', type: 'Shop.OrderPlaced', source: '/shop' }

const published = z.strictObject({ status: z.number(), code: z.string().optional(), message: z.string().optional() })

/** Posts the form as the page does. */
function post(
  { proxy }: EventGridEmulator,
  form: string | { readonly topic?: unknown; readonly event?: unknown },
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${proxy}/page/publish`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: proxy, ...headers },
    body: typeof form === 'string' ? form : JSON.stringify(form),
  })
}

it.each([
  { name: 'another origin', headers: { origin: 'https://evil.example' } },
  { name: 'the same machine’s other port', headers: { origin: 'http://127.0.0.1:1' } },
  { name: 'a sandboxed frame', headers: { origin: 'null' } },
  { name: 'another site of the same machine', headers: { 'sec-fetch-site': 'same-site' } },
  { name: 'a form, which needs no permission to send this type', headers: { 'content-type': 'text/plain' } },
])('publishes nothing for $name', async ({ headers }) => {
  const emulator = await startEmulator()
  const answer = await post(emulator, { topic: 'orders', event: JSON.stringify(cloudEvent) }, headers)
  expect(answer.status).toBe(403)
  expect(emulator.records.requests).toHaveLength(0)
})

it('publishes nothing for who says no origin', async () => {
  const { proxy } = await startEmulator()
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${proxy}/page/publish`, { method: 'POST', headers, body: '{}' })).status).toBe(403)
})

it('publishes through the topic’s own route, with an id and a time where they lack', async () => {
  const { emulator, subscriber } = await openShop()
  const answer = await post(emulator, {
    topic: 'orders',
    event: JSON.stringify([cloudEvent, { ...cloudEvent, id: 'mine' }]),
  })
  expect(published.parse(await answer.json())).toEqual({ status: 200 })
  await subscriber.received(2)
  const events = subscriber.deliveries().map(({ body }) => JSON.parse(body))
  expect(events).toContainEqual(expect.objectContaining({ id: 'mine', time: '2026-01-05T14:07:09.000Z' }))
  expect(events).toContainEqual(expect.objectContaining({ id: expect.stringMatching(/^[\da-f-]{36}$/) }))
  expect(emulator.records.requests.last).toMatchObject({ method: 'POST', status: 200 })
})

it.each([
  {
    schema: 'EventGridSchema',
    event: { eventType: 'Shop.OrderPlaced', subject: 'orders/1', dataVersion: '1.0', data: {} },
  },
  { schema: 'CustomEventSchema', event: { eventType: 'Shop.OrderPlaced', subject: 'orders/1', dataVersion: '1.0' } },
] as const)('publishes to a topic of $schema', async ({ schema, event }) => {
  const emulator = await startEmulator({ topics: [{ name: 'orders', inputSchema: schema }] })
  const answer = await post(emulator, { topic: 'orders', event: JSON.stringify(event) })
  expect(await answer.json()).toEqual({ status: 200 })
})

it('publishes every sample it offers, at once', async () => {
  const samples = z
    .array(
      z.object({
        name: z.string(),
        schema: z.enum(['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomEventSchema']),
        event: z.unknown(),
      }),
    )
    .parse(JSON.parse(readFileSync(new URL('../../src/page/assets/samples.json', import.meta.url), 'utf8')))
  const emulator = await startEmulator({
    topics: [...new Set(samples.map(({ schema }) => schema))].map((schema) => ({
      name: schema.replace('_', '-'),
      inputSchema: schema,
    })),
  })
  // From here on no time passes.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  for (const { name, schema, event } of samples) {
    const answer = await post(emulator, { topic: schema.replace('_', '-'), event: JSON.stringify(event) })
    expect({ name, ...published.parse(await answer.json()) }).toEqual({ name, status: 200 })
  }
})

it('publishes with a token where the topic takes no keys', async () => {
  const emulator = await startEmulator({ topics: [{ name: 'orders', disableLocalAuth: true }] })
  const publish = async () =>
    published.parse(await (await post(emulator, { topic: 'orders', event: JSON.stringify(cloudEvent) })).json())
  expect(await publish()).toEqual({ status: 200 })
  emulator.removeRoles(emulator.clientId)
  expect(await publish()).toMatchObject({ status: 401 })
})

it('tells what the topic says against the event', async () => {
  const emulator = await startEmulator()
  const answer = await post(emulator, { topic: 'orders', event: '{"specversion":"1.0","type":"Shop.OrderPlaced"}' })
  expect(published.parse(await answer.json())).toMatchObject({
    status: 400,
    code: 'BadRequest',
    message: expect.stringMatching(/source/),
  })
})

it.each([
  { name: 'an event that is no JSON', form: { topic: 'orders', event: '{' }, status: 400 },
  { name: 'an event that is no text', form: { topic: 'orders', event: cloudEvent }, status: 400 },
  { name: 'an unknown topic', form: { topic: 'nowhere', event: '{}' }, status: 404 },
  { name: 'a topic that is no text', form: { topic: ['orders'], event: '{}' }, status: 404 },
  { name: 'a topic by way of the prototype', form: { topic: '__proto__', event: '{}' }, status: 404 },
  { name: 'a body that is no JSON', form: 'orders', status: 404 },
  { name: 'a body that is no object', form: 'null', status: 404 },
])('answers $status to $name, in a form that the page understands', async ({ form, status }) => {
  const answer = await post(await startEmulator(), form)
  expect(answer.status).toBe(status)
  expect(await answer.json()).toEqual({ error: { message: expect.stringMatching(/^The|^There/) } })
})

it('takes no body that is longer than a topic would, and says so before it is sent', async () => {
  // A second of silence says that no body is on its way.
  quickenTime()
  const { proxy } = await startEmulator()
  const headers = { 'content-type': 'application/json', origin: proxy, 'content-length': 5_000_000 }
  const asked = request(`${proxy}/page/publish`, { method: 'POST', headers })
  onTestFinished(() => void asked.destroy())
  asked.flushHeaders()
  const [answer] = await once(asked, 'response')
  expect(answer.statusCode).toBe(413)
  expect(JSON.parse(await text(answer))).toEqual({ error: { message: 'The request is too long.' } })
})
