import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import { AzureKeyCredential } from '@azure/core-auth'
import { EventGridPublisherClient } from '@azure/eventgrid'
import { describe, expect, it, onTestFinished } from 'vitest'
import { credentialOf, managementOf, send } from '../../../../test/support/azure-clients.ts'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { EmulatorStateError, EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'
import { eventOf } from '../../src/model/events/event-text.ts'
import { openState } from '../../src/state/state.ts'
import { grant, startSubscriber } from '../subscriber.ts'
import { warningThatSays } from '../support/warning.ts'

/** A file name in a folder of its own. */
const stateFile = () => join(temporaryFolder(), 'state.db')

const publicUrl = 'https://subscriber.example/api/events'
const audit = { name: 'audit', endpoint: publicUrl }

async function publish(emulator: EventGridEmulator, ids: readonly string[]): Promise<void> {
  const { endpoint, key } = emulator.topic()
  const client = new EventGridPublisherClient(endpoint, 'CloudEvent', new AzureKeyCredential(key), {
    tlsOptions: { ca: emulator.ca },
  })
  await client.send(ids.map((id) => ({ id, type: 'order.placed', source: '/shop', data: { id } })))
}

/** Starts an emulator on a state file whose subscriber is reached at `url`. */
function startOn(state: string, url: string, options: EventGridEmulatorOptions = {}): Promise<EventGridEmulator> {
  const ingress = [{ from: 'https://subscriber.example/', to: url }]
  return startEmulator({ state, ingress, eventSubscriptions: [audit], ...options })
}

/** An emulator on a new state file, and another one on the same file, for whose start it ends. */
async function openKept(options: EventGridEmulatorOptions = {}) {
  const file = stateFile()
  const subscriber = await startSubscriber()
  const first = await startOn(file, subscriber.url, options)
  await first.idle()
  const restart = async (more: EventGridEmulatorOptions = {}) => {
    await first.close()
    return startOn(file, subscriber.url, { ...options, ...more })
  }
  return { file, subscriber, first, restart }
}

const deliveredIds = (subscriber: Awaited<ReturnType<typeof startSubscriber>>) =>
  subscriber.deliveries().map(({ body }) => JSON.parse(body).id)

describe('after a restart on the same state file', () => {
  it('knows its topics, their keys and the event subscriptions, without a new handshake', async () => {
    const { first, restart } = await openKept({ topics: [{ name: 'orders' }, { name: 'stock' }] })
    const second = await restart()
    await second.idle()
    const topicsOf = (emulator: EventGridEmulator) => emulator.topics().map(({ name, keys }) => ({ name, keys }))
    expect(topicsOf(second)).toEqual(topicsOf(first))
    expect(second.eventSubscriptions()).toEqual(first.eventSubscriptions())
    expect(second.eventSubscriptions()).toHaveLength(1)
    expect(second.records.handshakes.length).toBe(0)
  })

  it('has the first topic, domain and namespace topic of the options as the default, as before', async () => {
    const topics = [{ name: 'stock' }, { name: 'orders' }]
    const domains = [{ name: 'tenants' }, { name: 'guests' }]
    const namespaces = [{ name: 'shop', topics }, { name: 'archive' }]
    const { first, restart } = await openKept({ topics, domains, namespaces })
    const second = await restart()
    expect(second.topic().name).toBe('stock')
    expect(second.domain().name).toBe('tenants')
    expect(second.namespaceTopic().id).toBe(first.namespaceTopic('stock', 'shop').id)
    // And so has an event subscription without a topic.
    expect(second.eventSubscriptions()).toMatchObject([{ scope: second.topic('stock').id, name: 'audit' }])
  })

  it('that is refused leaves nothing listening', async () => {
    const file = stateFile()
    const first = await EventGridEmulator.start({ state: file, port: 0, httpPort: 0 })
    const port = Number(new URL(first.endpoints.resourceManager).port)
    await first.close()
    writeFileSync(file, '')
    await expect(EventGridEmulator.start({ state: file, port, httpPort: 0 })).rejects.toThrow(EmulatorStateError)
    const { endpoints } = await startEmulator({ port })
    expect(endpoints.resourceManager).toContain(`:${port}`)
  })

  it('has the same certificate authority and client secret, and honours the tokens it gave', async () => {
    const { first, restart } = await openKept()
    const { token } = await credentialOf(first).getToken('https://management.azure.com/.default')
    const second = await restart()
    expect(second.ca).toBe(first.ca)
    expect(second.clientSecret).toBe(first.clientSecret)
    const path = `${second.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions?api-version=2022-06-15`
    const headers = { authorization: `Bearer ${token}` }
    expect((await send(second, path, { headers })).status).toBe(200)
    second.expireTokens()
    expect((await send(second, path, { headers })).status).toBe(401)
  })

  it('knows what was made through ARM, and forgets what was deleted there', async () => {
    const { first, restart } = await openKept({ clients: [{ roles: [{ role: 'Contributor' }] }] })
    const client = managementOf(first)
    await client.topics.beginCreateOrUpdateAndWait('rg', 'returns', { location: 'westeurope' })
    await client.topics.beginCreateOrUpdateAndWait('rg', 'refunds', { location: 'westeurope' })
    await client.topics.beginDeleteAndWait('rg', 'refunds')
    const names = (await restart()).topics().map(({ name }) => name)
    expect(names.toSorted()).toEqual(['orders', 'returns'])
  })

  it('no longer has a topic that its options named before and name no more', async () => {
    const { restart } = await openKept({ topics: [{ name: 'orders' }, { name: 'stock' }] })
    const second = await restart({ topics: [{ name: 'orders' }] })
    expect(second.topics().map(({ name }) => name)).toEqual(['orders'])
  })

  it('delivers what waited, and nothing twice that was delivered', async () => {
    const { first, subscriber, restart } = await openKept()
    await publish(first, ['done'])
    await subscriber.received(1)
    await first.idle()
    subscriber.answer({ status: 503 }, { status: 503 })
    await publish(first, ['a', 'b'])
    await subscriber.received(3)
    await first.idle()
    expect(first.pending).toBe(2)
    const second = await restart({ clock: new ManualClock(Date.now() + 60_000) })
    await second.settled()
    expect(deliveredIds(subscriber).slice(3).toSorted()).toEqual(['a', 'b'])
    expect(subscriber.deliveries().at(-1)?.headers['aeg-delivery-count']).toBe('1')
  })

  it('holds nothing of an event that every event subscription has', async () => {
    const { file, first } = await openKept()
    await publish(first, ['a', 'b'])
    await first.settled()
    await first.close()
    const database = new DatabaseSync(file)
    const counts = database.prepare(
      'SELECT (SELECT count(*) FROM event) AS events, (SELECT count(*) FROM waiting) AS waiting',
    )
    expect({ ...counts.get() }).toEqual({ events: 0, waiting: 0 })
    database.close()
  })

  it('waits for the next try as long as it would have without the restart', async () => {
    const clock = new ManualClock()
    const { first, subscriber, restart } = await openKept({ clock, random: () => 0 })
    subscriber.answer({ status: 500 })
    await publish(first, ['a'])
    await first.idle()
    await (await restart()).idle()
    await clock.advance(9_999)
    expect(deliveredIds(subscriber)).toEqual(['a'])
    await clock.advance(1)
    expect(deliveredIds(subscriber)).toEqual(['a', 'a'])
  })

  it('dead-letters what was given up before, with the tries it had', async () => {
    const clock = new ManualClock()
    const letters = { resourceId: storageAccountId, blobContainerName: 'dead' }
    const properties = { deadLetterDestination: { endpointType: 'StorageBlob', properties: letters } }
    const { first, subscriber, restart } = await openKept({ clock, eventSubscriptions: [{ ...audit, properties }] })
    subscriber.answer({ status: 400 })
    await publish(first, ['bad'])
    await first.idle()
    expect(first.records.deadLetters.length).toBe(0)
    const second = await restart()
    await clock.advance(5 * 60_000)
    expect(second.records.deadLetters.last).toMatchObject({
      subscriptionName: 'audit',
      events: [
        { id: 'bad', deadletterreason: 'UndeliverableDueToClientError', deliveryattempts: 1, lasthttpstatuscode: 400 },
      ],
    })
    await second.close()
    const third = await restart()
    await third.settled()
    expect(third.records.deadLetters.length).toBe(0)
  })

  it('keeps an event for each subscription until that one has it', async () => {
    const eventSubscriptions = ['one', 'two'].map((name) => ({ name, endpoint: `${publicUrl}/${name}` }))
    const { first, subscriber, restart } = await openKept({ eventSubscriptions })
    first.failNext({ route: 'delivery', status: 503, matches: ({ url }) => url.endsWith('two') })
    await publish(first, ['a'])
    await first.idle()
    const second = await restart({ clock: new ManualClock(Date.now() + 60_000) })
    await second.settled()
    expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/api/events/one', '/api/events/two'])
  })

  it('drops what waited for a subscription that was deleted', async () => {
    const { first, subscriber, restart } = await openKept()
    subscriber.answer({ status: 503 })
    await publish(first, ['a'])
    await first.idle()
    first.reconfigure({ topics: [{ name: 'orders' }] })
    await first.idle()
    const second = await restart({ clock: new ManualClock(Date.now() + 60_000) })
    await second.settled()
    expect(deliveredIds(subscriber)).toEqual(['a'])
  })

  it('does a handshake again that the end cut short', async () => {
    const file = stateFile()
    const subscriber = await startSubscriber()
    const asked = Promise.withResolvers<void>()
    subscriber.onHandshake(() => {
      asked.resolve()
      return undefined
    })
    const first = await startOn(file, subscriber.url)
    await asked.promise
    await first.close()
    subscriber.onHandshake(grant)
    const second = await startOn(file, subscriber.url)
    await second.idle()
    expect(second.eventSubscriptions().map(({ provisioningState }) => provisioningState)).toEqual(['Succeeded'])
  })
})

describe('a state file', () => {
  it('is readable by its owner only, since it holds keys', async () => {
    const file = stateFile()
    await startEmulator({ state: file })
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('is free again when the start fails', async () => {
    const file = stateFile()
    const other = await startEmulator()
    const port = Number(new URL(other.endpoints.resourceManager).port)
    await expect(EventGridEmulator.start({ state: file, port })).rejects.toThrow(/EADDRINUSE/)
    await startEmulator({ state: file })
  })

  const order = { id: 'a', source: '/shop', type: 'order', specversion: '1.0', data: {} }
  const queue = { name: 'orders', eventSubscriptions: [{ name: 'app' }] }

  it.each([
    {
      door: 'a topic',
      where: (emulator: EventGridEmulator) => emulator.topic().httpEndpoint,
      key: (emulator: EventGridEmulator) => ({ 'aeg-sas-key': emulator.topic().key }),
    },
    {
      door: 'a namespace topic',
      where: ({ proxy }: EventGridEmulator) => `${proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`,
      key: (emulator: EventGridEmulator) => ({ authorization: `SharedAccessKey ${emulator.namespaceTopic().key}` }),
    },
  ])('that takes no more events has $door refuse them with a status that makes publishers try again', async (one) => {
    const { file, first, restart } = await openKept({ namespaces: [{ name: 'shop', topics: [queue] }] })
    await first.close()
    const database = new DatabaseSync(file)
    database.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(FAIL, 'the disk is full'); END")
    database.close()
    const second = await restart()
    const headers = { 'content-type': 'application/cloudevents+json', ...one.key(second) }
    const answer = await fetch(one.where(second), { method: 'POST', headers, body: JSON.stringify(order) })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({ error: { code: 'InternalServerError' } })
    expect(second.pending).toBe(0)
  })

  it('that could not be begun on a full disk leaves nothing behind, and is begun at the next start', async () => {
    const file = stateFile()
    await expect(openState(file, { maxPages: 1 })).rejects.toThrow('the disk is full')
    const state = await openState(file)
    onTestFinished(state.close)
    expect([...state.journal.entries()]).toEqual([])
  })

  it('that a full disk keeps from growing says so, and holds what it held', async () => {
    const file = stateFile()
    const state = await openState(file, { maxPages: 16 })
    const warned = warningThatSays(file)
    const said = `${file} can't be written: the disk is full. Nothing was lost. Free some space, or name another file.`
    let kept = 0
    const accept = () => {
      const body = eventOf({ id: String(kept), data: 'x'.repeat(4000) })
      state.journal.accepted([{ event: { schema: 'CloudEventSchemaV1_0', body }, subscriptionIds: ['/s'] }], 0)
    }
    expect(() => {
      for (; kept < 100; kept++) accept()
    }).toThrow(new EmulatorStateError(said))
    expect(kept).toBeGreaterThan(0)
    expect(await warned).toMatchObject({ name: 'EmulatorStateError', message: said })
    expect(() => state.persisted.put('text', 'a', 'x'.repeat(100_000))).toThrow(new EmulatorStateError(said))
    state.close()
    const later = await openState(file)
    onTestFinished(later.close)
    const ids = [...later.journal.entries()].map(({ event }) => event.body.value.id)
    expect(ids).toEqual(Array.from({ length: kept }, (_, index) => String(index)))
  })

  it('that cannot be written at the start is not called damaged', async () => {
    const file = stateFile()
    const command = 'ulimit -f 20; exec "$0" --disable-warning=ExperimentalWarning "$@"'
    const main = join(import.meta.dirname, '../../src/cli/main.ts')
    const ports = ['--port', '0', '--http-port', '0']
    const emulate = spawn('sh', ['-c', command, process.execPath, main, ...ports, '--state', file])
    onTestFinished(() => void emulate.kill())
    const ended = once(emulate, 'exit')
    const output = await emulate.stderr.setEncoding('utf8').toArray()
    expect(output.join('')).toBe(
      `eventgrid-emulator: ${file} can't be read or written: disk I/O error. Check the disk, or name another file.\n`,
    )
    expect((await ended)[0]).toBe(2)
  })

  /** Makes a state file with a topic of its own and an event that waits, and changes it by SQL. */
  const changed = (sql: string) => async (file: string) => {
    const subscriber = await startSubscriber()
    subscriber.answer({ status: 503 })
    const emulator = await startOn(file, subscriber.url)
    await emulator.idle()
    await publish(emulator, ['a'])
    await emulator.idle()
    await emulator.rotateKeys()
    await emulator.close()
    const database = new DatabaseSync(file)
    database.function('checksum', { varargs: true }, (...values) => crc32(values.join('\u0000')))
    database.exec(sql)
    database.close()
  }
  /** The same by its bytes. */
  const cut = (change: (bytes: Buffer) => Buffer) => async (file: string) => {
    await changed('')(file)
    writeFileSync(file, change(readFileSync(file)))
  }
  const song = (file: string) => {
    const other = new DatabaseSync(file)
    other.exec('CREATE TABLE song (title TEXT)')
    other.close()
  }

  it.each<[name: string, says: RegExp, make: (file: string) => void | Promise<void>]>([
    ['a text', /is not a state file of the emulator/, (file) => writeFileSync(file, 'topics: []\n')],
    ['a database of something else', /is not a state file of the emulator/, song],
    ['an empty one', /is empty\. Remove it/, (file) => writeFileSync(file, '')],
    ['one that lost all but its header', /is damaged/, cut((bytes) => bytes.subarray(0, 100))],
    ['a damaged one', /is damaged/, cut((bytes) => bytes.fill(0xff, 4096))],
    ['one that lost its end', /is damaged/, cut((bytes) => bytes.subarray(0, 5000))],
    ['one that lost its last page', /is damaged/, cut((bytes) => bytes.subarray(0, -4096))],
    ['one without a table', /is damaged/, changed('DROP TABLE waiting')],
    ['one without a column', /is damaged/, changed('ALTER TABLE event RENAME COLUMN body TO text')],
    ['one with no JSON in it', /is damaged/, changed("UPDATE kept SET value = 'x' WHERE kind = 'resource'")],
    ['one with wrong types inside', /is damaged/, changed("UPDATE kept SET value = '[1]' WHERE kind = 'resource'")],
    ['one with another key', /is damaged/, changed("UPDATE kept SET value = 'x' WHERE id = 'signing keys'")],
    ['one with another event', /is damaged/, changed(`UPDATE event SET body = replace(body, 'order', 'order2')`)],
    ['one with wrong attempts', /is damaged/, changed("UPDATE waiting SET state = '{}'")],
    ['one whose event nobody waits for', /is damaged/, changed('DELETE FROM waiting')],
    ['one that lost an event', /is damaged/, changed('DELETE FROM event')],
    ['one of an earlier format', /written by another version/, changed('PRAGMA user_version = 1')],
    ['one of a later format', /written by another version/, changed('PRAGMA user_version = 99')],
  ])('that is really %s is refused and left as it is', async (_name, says, make) => {
    const file = stateFile()
    await make(file)
    const before = digest(file)
    const refusal = await EventGridEmulator.start({ state: file }).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ name: 'EmulatorStateError', message: expect.stringMatching(says) })
    expect(refusal).toMatchObject({ message: expect.stringContaining(file) })
    expect(refusal).toMatchObject({ message: expect.stringMatching(/ame another file/) })
    expect(digest(file)).toBe(before)
  })

  it('with any one byte changed is refused, or holds what it held', async () => {
    const file = stateFile()
    await changed('')(file)
    const whole = readFileSync(file)
    const held = await contentOf(file)
    const step = Number(process.env.EVENTGRID_STATE_STEP ?? 61)
    let refused = 0
    for (let at = 0; at < whole.length; at += step) {
      const bytes = Buffer.from(whole)
      bytes[at] = (bytes[at] ?? 0) ^ (1 + (at % 255))
      const copy = stateFile()
      writeFileSync(copy, bytes)
      const found = await contentOf(copy).catch((error: unknown) => error)
      if (found instanceof EmulatorStateError) {
        refused++
        expect(found.message, `byte ${at}`).toContain(copy)
        expect(found.message, `byte ${at}`).toMatch(/ame another file/)
        expect(readFileSync(copy).equals(bytes), `byte ${at}`).toBe(true)
      } else expect(found, `byte ${at}`).toEqual(held)
    }
    expect(refused).toBeGreaterThan(0)
  })

  it('may be a folder by mistake, which is said', async () => {
    const folder = join(stateFile(), '..')
    await expect(EventGridEmulator.start({ state: folder })).rejects.toMatchObject({ name: 'EmulatorStateError' })
  })
})

const digest = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

/** What a state file holds; throws as a start does. */
async function contentOf(file: string) {
  const state = await openState(file)
  const { store, journal, persisted } = state
  const content = {
    topics: store.resources('topics'),
    subscriptions: store.subscriptions.all(),
    events: [...journal.entries()].map(({ event, state: tries }) => [event.body.value.id, tries.attempts]),
    keys: persisted.get('identity', 'signing keys'),
    authority: persisted.get('identity', 'certificate authority'),
  }
  state.close()
  return content
}
