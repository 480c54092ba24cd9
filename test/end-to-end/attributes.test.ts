/** What `create` is given comes back through Event Grid, attribute by attribute. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openWorld } from '../support/open-world.ts'

const folder = new URL('../../examples/events/', import.meta.url)
const samples = readdirSync(folder).map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }))

const odd: readonly {
  readonly what: string
  readonly event: Readonly<Record<string, unknown>>
  readonly added?: object
}[] = [
  { what: 'extensions of every type', event: { data: 1, text: 'ü', number: 42, negative: -1, yes: true, no: false } },
  {
    what: 'binary data, and decodes it',
    event: { datacontenttype: 'application/octet-stream', data_base64: 'AAH/' },
    added: { data: Buffer.from([0, 1, 255]) },
  },
  { what: 'null data', event: { data: null } },
  { what: 'an array as data', event: { data: [1, [2, [3]], {}] } },
  { what: 'text as data', event: { datacontenttype: 'text/plain', data: 'plain ☕ text' } },
  { what: 'false as data', event: { data: false } },
  { what: 'names that JavaScript knows', event: { data: JSON.parse('{"__proto__":{"x":1},"constructor":"y"}') } },
  { what: 'a time of seven digits', event: { time: '2026-11-21T12:00:00.1234567Z', data: {} } },
  { what: 'empty text', event: { data: '' } },
  { what: 'a schema and a subject', event: { dataschema: 'urn:x', subject: 'a/b c', data: {} } },
]

it.each(samples)('brings back $file', async ({ text }) => {
  const given: Record<string, unknown> = JSON.parse(text)
  const isCloudEvent = 'specversion' in given
  const world = await openWorld({
    emulator: { topics: [{ name: 'orders', inputSchema: isCloudEvent ? 'CloudEventSchemaV1_0' : 'EventGridSchema' }] },
  })
  await world.init({ eventDeliverySchema: isCloudEvent ? 'CloudEventSchemaV1_0' : 'EventGridSchema' })
  await world.binding.invoke('create', given)
  await world.emulator.settled()
  const [received] = world.handled
  // Event Grid stamps its own topic on events of its schema, and versions where there are none.
  const stamped = isCloudEvent ? {} : { topic: world.fields.scope, metadataVersion: '1', dataVersion: '' }
  expect(JSON.parse(received?.data.toString() ?? '')).toEqual({ ...stamped, ...given })
})

it.each(odd)('brings back $what', async ({ event, added }) => {
  const given = { specversion: '1.0', id: 'odd', source: '/odd', type: 'odd', ...event }
  const world = await openWorld()
  await world.init()
  await world.binding.invoke('create', given)
  await world.emulator.settled()
  expect(world.handled.map(({ cloudEvent }) => cloudEvent)).toEqual([{ ...given, ...added }])
})
