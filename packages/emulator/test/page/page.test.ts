import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { readPage, section } from '../../../../test/documents/page.ts'
import { send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'
import { openShop, shopSecrets } from './open-page.ts'

const assets = new URL('../../src/page/assets/', import.meta.url)
const parts = readdirSync(assets).filter((name) => name !== 'index.html')

/** What `/emulator/state` and the stream's first message hold, as far as the tests look. */
const state = z.looseObject({
  totals: z.record(z.string(), z.number()),
  events: z.array(
    z.looseObject({ key: z.number(), type: z.string(), fates: z.array(z.looseObject({ state: z.string() })) }),
  ),
})

async function stateOf({ proxy }: EventGridEmulator) {
  return state.parse(await (await fetch(`${proxy}/emulator/state`)).json())
}

it('gives its data as JSON by the line of emulator.md', async () => {
  const [line] = section(readPage('packages/emulator/docs/emulator.md'), 'The page').flatMap((node) =>
    node.type === 'code' && node.lang === 'sh' ? [node.value] : [],
  )
  const [, path = ''] = /^curl http:\/\/127\.0\.0\.1:4431(\S+)$/.exec(line ?? '') ?? []
  const { proxy } = await startEmulator()
  const answer = await (await fetch(`${proxy}${path}`)).json()
  expect(answer).toMatchObject({
    totals: { published: 0 },
    topics: [{ name: 'orders' }],
    subscriptions: [],
    events: [],
  })
})

it.each([
  { name: 'http', open: ({ proxy }: EventGridEmulator) => fetch(proxy).then((answer) => answer.text()) },
  { name: 'https', open: (emulator: EventGridEmulator) => send(emulator, '/').then(({ body }) => String(body)) },
])('is there at the root by $name', async ({ open }) => {
  expect(await open(await startEmulator())).toMatch(/^<!doctype html>[\s\S]*<title>Event Grid emulator<\/title>/)
})

it('is made of its own files, each with its type, and none may load or run anything else', async () => {
  const { proxy } = await startEmulator()
  for (const path of ['/', ...parts.map((name) => `/page/${name}`)]) {
    const answer = await fetch(`${proxy}${path}`)
    expect({ path, status: answer.status }).toEqual({ path, status: 200 })
    expect(answer.headers.get('content-type')).toMatch(
      /^(text\/(html|css|javascript)|image\/svg\+xml|application\/json)/,
    )
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const policy = answer.headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  }
})

it('asks the test interface alone, beside its own files', () => {
  const asked = parts
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => readFileSync(new URL(name, assets), 'utf8').match(/(?<=['"`])\/(?!\/)[\w-]+\/[^'"`$?]*/g) ?? [])
  const others = asked.filter((path) => !path.startsWith('/emulator/'))
  expect(others).toEqual(['/page/samples.json'])
})

it('names no other address in any of its files', () => {
  const foreign = [...parts, 'index.html'].flatMap(
    (name) => readFileSync(new URL(name, assets), 'utf8').match(/(?:https?:)?\/\/[\w.-]+\.[a-z]+[^\s'"]*/g) ?? [],
  )
  expect(new Set(foreign)).toEqual(new Set(['http://www.w3.org/2000/svg']))
})

it.each([
  { name: 'a name that somebody pointed at this machine', host: 'rebound.example:80', status: 403 },
  { name: 'a name that begins like ours', host: 'localhost.example', status: 403 },
  { name: 'no proper name', host: 'localhost:80:80', status: 403 },
  { name: 'localhost', host: 'LOCALHOST:8080', status: 200 },
  { name: 'the loopback address of IPv6', host: '[::1]:8080', status: 200 },
])('answers $status to the host $host: $name', async ({ host, status }) => {
  const emulator = await startEmulator()
  for (const path of ['/', '/emulator/state', '/page/page.js']) {
    const asked = request(`${emulator.proxy}${path}`, { headers: { host } }).end()
    const [answer] = await once(asked, 'response')
    answer.resume()
    expect({ path, status: answer.statusCode }).toEqual({ path, status })
  }
})

it.each(['/emulator/state', '/emulator/stream', '/emulator/events/1'])('gives %s to no other site', async (path) => {
  const { proxy } = await startEmulator()
  const answer = await fetch(`${proxy}${path}`, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(answer.status).toBe(403)
  expect(answer.headers.get('access-control-allow-origin')).toBeNull()
})

it('shows no secret: no key, token, query or secret attribute', async () => {
  const { emulator, subscriber, publish } = await openShop()
  subscriber.answer({ status: 503 })
  await publish({ id: 'e1' })
  await emulator.idle()
  const [event] = (await stateOf(emulator)).events
  const told = await Promise.all(
    ['state', `events/${event?.key}`].map(async (path) => (await fetch(`${emulator.proxy}/emulator/${path}`)).text()),
  )
  expect(told[1]).toContain('"x-shop":"(redacted)"')
  const secrets = [...Object.values(shopSecrets), emulator.clientSecret, ...emulator.topic().keys]
  for (const secret of secrets) expect(told.join()).not.toContain(secret)
})

it('shows a long event whole', async () => {
  const { emulator, publish } = await openShop()
  const data = 'é'.repeat(200_000)
  await publish({ data })
  await emulator.idle()
  const [event] = (await stateOf(emulator)).events
  const answer = await fetch(`${emulator.proxy}/emulator/events/${event?.key}`)
  const { body } = z.looseObject({ body: z.string() }).parse(await answer.json())
  expect(JSON.parse(body).data).toBe(data)
  expect((await fetch(`${emulator.proxy}/emulator/events/${event?.key}`)).headers.get('cache-control')).toBe('no-store')
})

it.each(['999', '-1', 'NaN', '1e9', '%00', 'constructor'])('does not know the event %s', async (key) => {
  expect((await fetch(`${(await startEmulator()).proxy}/emulator/events/${key}`)).status).toBe(404)
})

it('leaves no trace in the records of Azure’s requests', async () => {
  const emulator = await startEmulator()
  for (const path of ['/', '/emulator/state', '/page/page.js']) await (await fetch(`${emulator.proxy}${path}`)).text()
  expect(emulator.records.requests).toHaveLength(0)
})
