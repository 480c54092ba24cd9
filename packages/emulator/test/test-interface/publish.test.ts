import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { openShop } from '../page/open-page.ts'

const cloudEvent = { specversion: '1.0', type: 'Shop.OrderPlaced', source: '/shop' }

const published = z.strictObject({ status: z.number(), code: z.string().optional(), message: z.string().optional() })

/** Posts events as the page does. */
function post(
  { proxy }: EventGridEmulator,
  { topic, events }: { readonly topic: string; readonly events: unknown },
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${proxy}/emulator/topics/${encodeURIComponent(topic)}/publish`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: proxy, ...headers },
    body: JSON.stringify({ events }),
  })
}

it.each([
  { name: 'another origin', headers: { origin: 'https://evil.example' } },
  { name: 'the same machine’s other port', headers: { origin: 'http://127.0.0.1:1' } },
  { name: 'a sandboxed frame', headers: { origin: 'null' } },
  { name: 'another site of the same machine', headers: { 'sec-fetch-site': 'same-site' } },
  {
    name: 'a form of another site, which needs no permission to send this type',
    headers: { 'content-type': 'text/plain', origin: 'https://evil.example' },
  },
])('publishes nothing for $name', async ({ headers }) => {
  const emulator = await startEmulator()
  const answer = await post(emulator, { topic: 'orders', events: JSON.stringify(cloudEvent) }, headers)
  expect(answer.status).toBe(403)
  expect(emulator.records.requests).toHaveLength(0)
})

it('publishes through the topic’s own route, with an id and a time where they lack', async () => {
  const { emulator, subscriber } = await openShop()
  const answer = await post(emulator, {
    topic: 'orders',
    events: JSON.stringify([cloudEvent, { ...cloudEvent, id: 'mine' }]),
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
  const answer = await post(emulator, { topic: 'orders', events: JSON.stringify(event) })
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
    const answer = await post(emulator, { topic: schema.replace('_', '-'), events: JSON.stringify(event) })
    expect({ name, ...published.parse(await answer.json()) }).toEqual({ name, status: 200 })
  }
})

it('publishes with a token where the topic takes no keys', async () => {
  const emulator = await startEmulator({ topics: [{ name: 'orders', disableLocalAuth: true }] })
  const publish = async () =>
    published.parse(await (await post(emulator, { topic: 'orders', events: JSON.stringify(cloudEvent) })).json())
  expect(await publish()).toEqual({ status: 200 })
  emulator.removeRoles(emulator.clientId)
  expect(await publish()).toMatchObject({ status: 401 })
})

it('tells what the topic says against the event', async () => {
  const emulator = await startEmulator()
  const answer = await post(emulator, { topic: 'orders', events: '{"specversion":"1.0","type":"Shop.OrderPlaced"}' })
  expect(published.parse(await answer.json())).toMatchObject({
    status: 400,
    code: 'BadRequest',
    message: expect.stringMatching(/source/),
  })
})

it.each([
  {
    name: 'an event that is no JSON',
    topic: 'orders',
    events: '{',
    status: 400,
    detail: 'the event is not valid JSON',
  },
  {
    name: 'an event that is no text',
    topic: 'orders',
    events: cloudEvent,
    status: 400,
    detail: expect.stringMatching(/a text/),
  },
  { name: 'an unknown topic', topic: 'nowhere', events: '{}', status: 404, detail: 'there is no such topic' },
  {
    name: 'a topic by way of the prototype',
    topic: '__proto__',
    events: '{}',
    status: 404,
    detail: 'there is no such topic',
  },
])('answers $status to $name', async ({ topic, events, status, detail }) => {
  const answer = await post(await startEmulator(), { topic, events })
  expect(answer.status).toBe(status)
  expect(await answer.json()).toMatchObject({ detail })
})

it('takes no body that is longer than a topic would, and says so before it is sent', async () => {
  // A second of silence says that no body is on its way.
  quickenTime()
  const { proxy } = await startEmulator()
  const headers = { 'content-type': 'application/json', origin: proxy, 'content-length': 5_000_000 }
  const asked = request(`${proxy}/emulator/topics/orders/publish`, { method: 'POST', headers })
  onTestFinished(() => void asked.destroy())
  asked.flushHeaders()
  const [answer] = await once(asked, 'response')
  expect(answer.statusCode).toBe(413)
  expect(JSON.parse(await text(answer))).toMatchObject({ detail: 'the body is too long' })
})
