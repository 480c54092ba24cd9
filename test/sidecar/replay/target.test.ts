import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { targetName, targetTopic } from '../../../src/sidecar/replay/target-topic.ts'
import { listen } from '../../support/listen.ts'
import { letter, openReplay } from './open-replay.ts'

const orders = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'
const namespace = 'https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish'
const emulated = 'https://localhost:4430/topics/orders/api/events'

it.each([
  { name: 'letter case of the host', endpoint: 'HTTPS://Orders.WestEurope-1.eventgrid.azure.net/api/events' },
  { name: 'the default port', endpoint: orders.replace('.net', '.net:443') },
  { name: 'a trailing slash', endpoint: `${orders}/` },
  { name: 'the default path', endpoint: orders.replace('/api/events', '') },
  { name: 'a dot behind the host', endpoint: orders.replace('.net', '.net.') },
  { name: 'a query', endpoint: `${orders}?code=c2VjcmV0` },
  { name: 'another port', endpoint: emulated, is: emulated },
  { name: 'a namespace topic', endpoint: `${namespace}?api-version=2024-06-01`, is: namespace },
])('names a topic in the ledger whatever its endpoint has: $name', ({ endpoint, is = orders }) => {
  expect(targetName(endpoint, undefined)).toBe(is)
  expect(targetName(endpoint, 'https://127.0.0.1:4430/?a=b')).toBe(`${is}@emulator:https://127.0.0.1:4430`)
})

const endpoints = { namespace: `${namespace}?api-version=2024-06-01`, orders: `${orders}?code=c2VjcmV0` }

it.each([
  { of: 'namespace', topicSchema: 'auto', is: 'CloudEventSchemaV1_0' },
  { of: 'namespace', topicSchema: 'EventGridSchema', is: 'EventGridSchema' },
  { of: 'orders', topicSchema: 'auto', is: 'auto' },
  { of: 'orders', topicSchema: 'EventGridSchema', is: 'EventGridSchema' },
] as const)(
  'knows of a topic without asking: $of with topicSchema $topicSchema takes $is',
  ({ of, topicSchema, is }) => {
    const topicEndpoint = endpoints[of]
    expect(targetTopic({ topicEndpoint, topicSchema })).toEqual({
      topicSchema: is,
      defaultSource: topicEndpoint.replace(/\?.*/, ''),
    })
  },
)

/** A topic that takes everything, as Event Grid answers, and the ids that it was sent. */
async function openTopic() {
  const ids: string[] = []
  const server = createServer(async (request, response) => {
    for (const { id } of JSON.parse(await text(request))) ids.push(id)
    response.writeHead(200, { 'x-ms-request-id': '1' }).end()
  })
  const url = `http://127.0.0.1:${await listen(server)}/api/events`
  return { ids, url }
}

it('publishes once to each target: to the emulators in a rehearsal, to one topic, to another one', async () => {
  const { write, replay, run, dead, component, given, at } = await openReplay()
  const [one, other] = [await openTopic(), await openTopic()]
  write('1.json', [letter('1'), letter('2')])
  component({ topicEndpoint: `${one.url}?key=c2VjcmV0`, topicSchema: 'CloudEventSchemaV1_0' })
  const real = given.slice(0, given.indexOf('--emulator'))
  const rehearsal = [...real, '--emulator', 'http://127.0.0.1:1']
  const took = '2 events published\n'
  const known = '0 events published, 2 published before\n'
  expect((await replay(dead)).text).toBe(took)
  expect((await replay(dead)).text).toBe(known)
  expect((await run(...rehearsal, dead, '--dry-run')).text).toBe(
    `2 events would be published to ${one.url}, as the emulator at http://127.0.0.1:1 has it\n`,
  )
  expect((await run(...real, dead, '--dry-run')).text).toBe(`2 events would be published to ${one.url}\n`)
  expect((await run(...real, dead)).text).toBe(took)
  expect((await run(...real, dead)).text).toBe(known)
  component({ topicEndpoint: other.url, topicSchema: 'CloudEventSchemaV1_0' })
  expect((await run(...real, dead)).text).toBe(took)
  component({ topicEndpoint: `${one.url}/`, topicSchema: 'CloudEventSchemaV1_0' })
  expect((await run(...real, dead)).text).toBe(known)
  expect(one.ids).toEqual(['1', '2', '1', '2'])
  expect(other.ids).toEqual(['1', '2'])
  const ledger = readFileSync(at('eventgrid-replay.db'), 'latin1')
  expect(ledger).toContain(`${one.url}@emulator:https://`)
  expect(ledger).not.toContain('c2VjcmV0')
})

it('takes no line for a publication that does not say where to', async () => {
  const { write, replay, dead, published } = await openReplay()
  write('1.json', [letter('1')])
  write('eventgrid-replay.ledger', `${'a'.repeat(43)} "1"\n`)
  expect(await replay(dead)).toEqual({ code: 0, text: expect.stringMatching(/^1 event pub/) })
  expect(published()).toHaveLength(1)
})
