/** Whatever the reason of ours for which deliveries are refused or put off, health tells it until one is accepted. */
import { createServer, request as send } from 'node:http'
import { expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/listen.ts'
import { order } from '../support/open-pull.ts'
import { openWorld, type World } from '../support/open-world.ts'

/** A gateway in front of the listener that passes on no header of Event Grid's own. */
async function openGateway({ emulator, binding }: World): Promise<void> {
  const gateway = createServer((request, response) => {
    const { method, url } = request
    const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith('aeg-'))
    const port = binding.address()?.port
    const passed = send({ host: '127.0.0.1', port, method, path: url, headers: Object.fromEntries(headers) })
    passed.on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.headers)))
    // The binding closes while a delivery is under way.
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  const port = await listen(gateway)
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${port}${pathname}`)
}

it.each([
  { name: '500', fault: { status: 500 } },
  { name: 'a page of a proxy', fault: { status: 403 } },
  { name: 'no answer', fault: { drop: true } },
])('entra, whose keys get $name: also of deliveries whose headers a gateway took away', async ({ fault }) => {
  const world = await openWorld({ emulator: { retrySchedule: [20, 20, 20, 20] } })
  const { emulator, binding, init } = world
  await init({ deliveryAuthentication: 'entra' })
  await openGateway(world)
  emulator.failNext({ route: 'entra', ...fault, times: 1_000, matches: ({ url }) => url.includes('/keys') })
  await binding.invoke('create', {})
  await eventually(() => expect(binding.health().input?.reasons.join('\n')).toContain('cannot be fetched'))
  expect(binding.health().status).not.toBe('healthy')
  expect(binding.health().input?.answered).toMatchObject({ 503: expect.any(Number) })
  expect(binding.health().input?.strangers).toEqual({})
})

it.each([
  { name: 'a media type', type: 'text/plain', body: 'x', status: 415, again: 'sends it again' },
  {
    name: 'a body over the limit',
    type: 'application/cloudevents+json',
    body: JSON.stringify({ ...order('large'), data: 'x'.repeat(2_100_000) }),
    status: 413,
    again: 'does not send it again',
  },
])('$name that is not taken is told until a delivery is', async ({ type, body, status, again }) => {
  const { binding, init } = await openWorld()
  await init({ maxRequestBytes: '2097152', deliveryAuthentication: 'none' })
  const headers = { 'aeg-subscription-name': 'ORDERS', 'content-type': type }
  const url = `http://127.0.0.1:${binding.address()?.port}/api/events`
  expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(status)
  expect(binding.health().input?.reasons.join('\n')).toMatch(
    `cannot be read; it was answered ${status}: Event Grid ${again}`,
  )
  await binding.invoke('create', {})
  await eventually(() => expect(binding.health().status).toBe('healthy'))
})
