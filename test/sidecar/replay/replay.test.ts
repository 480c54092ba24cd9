import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { listen } from '../../support/listen.ts'
import { eventGridLetter, letter, letters, openReplay } from './open-replay.ts'

/** A server that keeps the bodies that it is sent, and takes part in handshakes. */
async function receive(status = () => 200) {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') bodies.push(await text(request))
    response.writeHead(request.method === 'POST' ? status() : 200, { 'webhook-allowed-origin': '*' }).end()
  })
  return { bodies, url: `http://127.0.0.1:${await listen(server)}/` }
}

it('publishes what Event Grid has dead-lettered, as it was published first', async () => {
  const blobs: { readonly path: string; readonly content: string }[] = []
  let status = 400
  const receiver = await receive(() => status)
  const resourceId = '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/shop'
  const deadLetterDestination = { endpointType: 'StorageBlob', properties: { resourceId, blobContainerName: 'dead' } }
  const world = await openReplay({
    ingress: [{ from: 'https://orders.example.com/', to: receiver.url }],
    eventSubscriptions: [
      {
        ...{ name: 'orders', endpoint: 'https://orders.example.com/api/events' },
        properties: { eventDeliverySchema: 'CloudEventSchemaV1_0', deadLetterDestination },
      },
    ],
    deadLetterDelay: 0,
    deadLetterStore: { write: async (blob) => void blobs.push(blob) },
  })
  const { emulator } = world
  await emulator.idle()
  const { key, httpEndpoint } = emulator.topic('orders')
  const event = {
    specversion: '1.0',
    id: '1',
    source: '/shop',
    type: 'order.placed',
    myext: 'kept',
    data: { order: 1 },
  }
  await fetch(httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents+json' },
    body: JSON.stringify(event),
  })
  await expect.poll(() => blobs).toHaveLength(1)
  status = 200
  for (const { path, content } of blobs) world.write(path, content)
  expect(await world.replay(world.dead)).toEqual({ code: 0, text: '1 event published\n' })
  await emulator.idle()
  expect(JSON.parse(receiver.bodies.at(-1) ?? '')).toEqual(event)
})

it('publishes each event once, by a ledger that a file and its folder share', async () => {
  const { write, replay, published, dead, at } = await openReplay()
  const first = write('ORDERS/2026/1/5/10/a.json', [letter('1'), letter('2'), letter('1')])
  write('ORDERS/2026/1/5/9/b.json', letter('3'))
  write('BILLING/2026/1/5/10/c.json', [letter('2')])
  expect((await replay(first)).text).toBe('2 events published, 1 duplicate in the files\n')
  expect((await replay(dead)).text).toBe('1 event published, 2 published before, 2 duplicates in the files\n')
  // As a shell makes it of a star: with the ledger.
  const names = readdirSync(at('ORDERS/2026/1/5/10')).map((name) => at(`ORDERS/2026/1/5/10/${name}`))
  expect((await replay(...names, first)).text).toBe(
    '0 events published, 2 published before, 1 duplicate in the files\n',
  )
  expect(published().map(({ id }) => id)).toEqual(['1', '2', '3'])
  expect(published()[0]).not.toHaveProperty('deadletterreason')
})

it('says that a folder has no dead letters, and lists a link to nothing', async () => {
  const { replay, dead, at } = await openReplay()
  expect(await replay(dead)).toEqual({ code: 0, text: expect.stringContaining('no .json file is there') })
  symlinkSync(at('nowhere'), at('a.json'))
  expect(await replay(dead)).toEqual({ code: 1, text: expect.stringMatching(/not published: .*a\.json: ENOENT/) })
})

it('publishes an event again that was dead-lettered again after a replay, and another one of the same id', async () => {
  const { write, replay, dead, published } = await openReplay()
  write('1.json', letter('1'))
  await replay(dead)
  write('2.json', [letter('1', { publishtime: '2026-01-06T10:00:00Z' }), letter('1', { data: { order: 2 } })])
  await replay(dead)
  expect(published()).toHaveLength(3)
})

it('keeps the text of every number', async () => {
  const { write, replay, dead, component } = await openReplay()
  const numbers = '[1.0,12345678901234567890,1E400,-0]'
  const { url, bodies } = await receive()
  component({ topicEndpoint: `${url}api/events` })
  write('1.json', JSON.stringify([letter('1', { data: 'N' })]).replace('"N"', numbers))
  expect((await replay(dead)).code).toBe(0)
  expect(bodies.join('')).toContain(`"data":${numbers}`)
})

it.each([
  { name: 'a type', args: ['--type', 'order.paid,order.sent'], ids: ['2'] },
  { name: 'a time', args: ['--since', '2026-01-05T10:05:00Z'], ids: ['1', '2', '4'] },
  { name: 'a time without a zone, in UTC', args: ['--since', '2026-02-01T00:00'], ids: ['4'] },
  { name: 'a duration', args: ['--since', '48h'], ids: ['4'] },
])('takes by $name what is asked for', async ({ args, ids }) => {
  const { write, replay, dead, published } = await openReplay()
  write('1.json', [
    letter('1'),
    letter('2', { type: 'order.paid' }),
    letter('3', { lastdeliveryattempttime: '2026-01-05T10:04:00Z' }),
    letter('4', { lastdeliveryattempttime: new Date().toISOString() }),
  ])
  const { code, text } = await replay(...args, dead)
  expect(text).toContain(`${4 - ids.length} left out by --since or --type`)
  expect(code).toBe(0)
  expect(published().map(({ id }) => id)).toEqual(ids)
})

it('publishes nothing with --dry-run, and asks nobody', async () => {
  const { write, replay, dead, emulator } = await openReplay()
  write('1.json', [letter('1'), 7])
  expect(await replay('--dry-run', dead)).toEqual({
    code: 1,
    text: expect.stringMatching(
      /1\.json \[1\]: it is not a JSON object\n1 event would be published to https:.*, 1 not published\n$/,
    ),
  })
  expect(readdirSync(dead)).toEqual(['1.json'])
  expect(emulator.records.requests.all()).toEqual([])
})

it('lists at the end what can not be published, and leaves it', async () => {
  const { write, replay, dead, published } = await openReplay()
  const files = {
    'broken.json': '[{"specversion": "1.0", "id"',
    'empty.json': '',
    'latin.json': Buffer.from([0x22, 0xe4, 0x22]),
    'mixed.json': [null, { hello: 'world' }, { specversion: '1.0', id: 7, type: 't' }, letter('good')],
    'refused.json': [letter('no-source', { source: undefined })],
    'large.json': [letter('large', { data: 'x'.repeat(1_100_000) })],
  }
  for (const [name, content] of Object.entries(files)) write(name, content)
  const before = Object.keys(files).map((name) => readFileSync(`${dead}/${name}`, 'utf8'))
  const { code, text } = await replay(dead)
  expect(code).toBe(1)
  for (const says of [
    /broken\.json: it is not valid JSON; was it downloaded to its end\?/,
    /empty\.json: it is not valid JSON/,
    /latin\.json: it is not UTF-8/,
    /mixed\.json \[0\]: it is not a JSON object/,
    /mixed\.json \[1\]: it has neither specversion nor eventType/,
    /mixed\.json \[2\]: its id or its type is not a text/,
    /refused\.json \[0\] \(id "no-source"\): .*source is missing/,
    /large\.json \[0\] \(id "large"\): .*1048576/,
    /\n1 event published, 8 not published\n$/,
  ]) {
    expect(text).toMatch(says)
  }
  expect(published().map(({ id }) => id)).toEqual(['good'])
  expect(Object.keys(files).map((name) => readFileSync(`${dead}/${name}`, 'utf8'))).toEqual(before)
})

it.each([
  { inputSchema: 'EventGridSchema', topicSchema: 'EventGridSchema', given: letter },
  { inputSchema: 'EventGridSchema', topicSchema: undefined, given: letter },
  { inputSchema: 'CloudEventSchemaV1_0', topicSchema: 'CloudEventSchemaV1_0', given: eventGridLetter },
  { inputSchema: 'CloudEventSchemaV1_0', topicSchema: undefined, given: eventGridLetter },
] as const)('converts what does not fit a topic of $inputSchema, with topicSchema $topicSchema', async (one) => {
  const { inputSchema, topicSchema, given } = one
  const world = await openReplay({ topics: [{ name: 'orders', inputSchema }] })
  world.component({ topicSchema })
  const dead = Array.from({ length: 30 }, (_, at) => given(String(at)))
  world.write('1.json', dead)
  const text = "30 events published, 30 of them in the topic's own schema\n"
  expect(await world.replay(world.dead)).toEqual({ code: 0, text })
  expect(world.published()).toHaveLength(30)
  expect(world.published()[0]).toMatchObject({ id: '0', subject: 'orders/1', data: { order: 1 } })
  // One refusal was enough.
  const refused = world.emulator.records.requests.all().filter(({ status }) => status === 400)
  expect(refused).toHaveLength(topicSchema === undefined ? 1 : 0)
})

it('ends at once where the topic takes nothing, and goes on when it does', async () => {
  const { write, replay, dead, component, published } = await openReplay()
  write('1.json', letters(100))
  component({ accessKey: 'bm90IHRoZSBrZXkgb2YgdGhpcyB0b3BpYw==' })
  await expect(replay(dead)).rejects.toMatchObject({ code: 'CREDENTIALS_REJECTED' })
  component()
  expect((await replay(dead)).text).toBe('100 events published\n')
  expect(published()).toHaveLength(100)
})

it.each([
  { name: 'no path', args: [], says: 'a file or folder with dead letters is missing' },
  { name: 'a path that is not there', args: ['/no/such/folder'], says: "the dead letters can't be read: ENOENT" },
  { name: 'a time that is none', args: ['--since', 'yesterday', '.'], says: '--since takes a time or a duration' },
  { name: 'a number without a unit', args: ['--since', '48', '.'], says: '--since takes a time or a duration' },
])('is wrong usage: $name', async ({ args, says }) => {
  const { replay } = await openReplay()
  await expect(replay(...args)).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(says) })
})

it('is wrong usage with a component that is not there', async () => {
  const { given, run } = await openReplay()
  const says = 'no component "ordres" of ours; there is orders'
  await expect(run(...given.map((word) => word.replace(/^orders$/, 'ordres')), '.')).rejects.toThrow(says)
})

it('is wrong usage with a component that does not publish, or is not valid', async () => {
  const { component, replay } = await openReplay()
  component({ topicEndpoint: undefined, accessKey: undefined })
  const says = 'component "orders" does not publish: it lacks topicEndpoint and accessKey'
  await expect(replay('.')).rejects.toMatchObject({ name: 'UsageError', message: expect.stringContaining(says) })
  component({ topicEndpoint: 'no url' })
  const fault = expect.stringMatching(/orders\.yaml:\d+:\d+: topicEndpoint must/)
  await expect(replay('.')).rejects.toMatchObject({ name: 'UsageError', message: fault })
})

it('says what can be done where the topic takes fewer events a second', async () => {
  const { write, replay, dead, component } = await openReplay()
  const { url } = await receive(() => 429)
  component({ topicEndpoint: url, publishTimeout: '1s' })
  write('1.json', [letter('1')])
  await expect(replay(dead)).rejects.toThrow(/429.*start again with --rate N: N events a second/s)
})

it.each(['0', '1.5', 'fast', '100001'])('refuses --rate %s', async (rate) => {
  const { replay, dead } = await openReplay()
  await expect(replay('--rate', rate, dead)).rejects.toThrow(/--rate takes a number from 1 to 100000/)
})
