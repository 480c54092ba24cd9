import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { credentialOf, type HandRequest, sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { handshakeAgainMs } from '../../src/arm/subscriptions/provisioning.ts'
import { EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'
import { grant, type Subscriber, startSubscriber } from '../subscriber.ts'
import { warningThatSays } from '../support/warning.ts'

const endpoint = 'https://subscriber.example/api/events'
const expiring = { name: 'audit', endpoint, properties: { expirationTimeUtc: new Date(60_000).toISOString() } }

/**
 * An emulator on a state file that has a first start behind it, and refuses changes of event subscriptions, as a full disk does, from
 * the change of that number on and for so many changes.
 */
async function openFull(subscriber: Subscriber, { from = 1, count = 1000 }, options: EventGridEmulatorOptions = {}) {
  const state = join(temporaryFolder(), 'state.db')
  const ingress = [{ from: 'https://subscriber.example/', to: subscriber.url }]
  const clock = new ManualClock(0)
  const given = { state, ingress, clock, ...options }
  const first = await EventGridEmulator.start(given)
  await first.idle()
  // The signing key is made in the background. Written later, it would take along what the disk had no space for.
  await credentialOf(first).getToken('https://management.azure.com/.default')
  await first.close()
  const sql = (text: string) => {
    const database = new DatabaseSync(state)
    database.exec(text)
    database.close()
  }
  // What FAIL ends keeps the changes before it.
  const full = (event: 'INSERT' | 'DELETE', row: 'NEW' | 'OLD') => `
    CREATE TRIGGER full_${event} BEFORE ${event} ON kept WHEN ${row}.kind = 'event subscription' BEGIN
      INSERT INTO change VALUES (1);
      SELECT RAISE(FAIL, 'the disk is full') WHERE (SELECT count(*) FROM change) BETWEEN ${from} AND ${from + count - 1};
    END;`
  sql(`CREATE TABLE change (n); ${full('INSERT', 'NEW')} ${full('DELETE', 'OLD')}`)
  const emulator = await startEmulator(given)
  await emulator.idle()
  return {
    clock,
    emulator,
    states: () => emulator.eventSubscriptions().map(({ provisioningState }) => provisioningState),
    warning: () => warningThatSays(state),
    /** Starts the next emulator on the file, without what the options declare. */
    startAgain: () => startEmulator({ ...given, eventSubscriptions: [] }),
    trouble: async () => Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json()).trouble,
    /** What the file holds at the end. */
    async stored(): Promise<readonly string[]> {
      await emulator.close()
      const database = new DatabaseSync(state)
      const rows = database.prepare("SELECT value FROM kept WHERE kind = 'event subscription'").all()
      database.close()
      return rows.map(({ value }) => JSON.parse(String(value)).provisioningState)
    },
  }
}

it('a full disk does not end the emulator when an event subscription expires: it says so until it could write', async () => {
  const subscriber = await startSubscriber()
  const full = await openFull(subscriber, { count: 1 }, { eventSubscriptions: [expiring] })
  expect(full.states()).toEqual(['Succeeded'])
  const warned = full.warning()
  await full.clock.advance(60_000)
  expect(full.states()).toEqual([])
  expect(await warned).toMatchObject({
    name: 'EmulatorStateError',
    message: expect.stringContaining('the disk is full'),
  })
  // The journal writes soon after, and has nothing to change.
  await setTimeout(200)
  await expect(full.trouble()).resolves.toContain('the disk is full')
  full.emulator.addTopic({ name: 'returns' })
  await expect(full.trouble()).resolves.toBeUndefined()
  await expect(full.stored()).resolves.toEqual(['Succeeded'])
  const next = await full.startAgain()
  expect(next.eventSubscriptions()).toEqual([])
})

it('a full disk has a domain topic go with its last event subscription', async () => {
  const subscriber = await startSubscriber()
  const domains = [{ name: 'shop' }]
  const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg'
  const scope = `${group}/providers/Microsoft.EventGrid/domains/shop/topics/lamps`
  const full = await openFull(subscriber, {}, { domains, eventSubscriptions: [{ ...expiring, scope }] })
  await full.clock.advance(60_000)
  expect(full.states()).toEqual([])
})

it('a full disk stops neither another handshake nor its success, and the next start does it again', async () => {
  const subscriber = await startSubscriber()
  subscriber.onHandshake(() => ({ status: 503 }))
  // The write of the start itself goes through.
  const full = await openFull(subscriber, { from: 2 }, { eventSubscriptions: [{ name: 'audit', endpoint }] })
  expect(full.states()).toEqual(['Failed'])
  subscriber.onHandshake(grant)
  await full.clock.advance(handshakeAgainMs)
  await full.emulator.idle()
  expect(full.states()).toEqual(['Succeeded'])
  await expect(full.stored()).resolves.toEqual(['Updating'])
})

it('a full disk has a PUT refused with 500 and nothing changed, and no handshake made', async () => {
  const subscriber = await startSubscriber()
  const full = await openFull(subscriber, {})
  const path = `${full.emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/new`
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: endpoint } }
  const body = JSON.stringify({ properties: { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' } })
  expect((await sendArm(full.emulator, path, { method: 'PUT', body })).status).toBe(500)
  expect(full.states()).toEqual([])
  expect(subscriber.requests).toEqual([])
  expect(full.emulator.records.warnings.length).toBe(0)
})

/**
 * As long as there is a topic `full-N`, the file takes no change from the Nth after that topic on.
 */
const fullWithTopic = (event: 'INSERT' | 'DELETE', row: 'NEW' | 'OLD') => `
  CREATE TRIGGER full_${event} BEFORE ${event} ON kept WHEN ${row}.id NOT LIKE '%/topics/full-%' BEGIN
    INSERT INTO change VALUES (1);
    SELECT RAISE(FAIL, 'the disk is full') FROM kept
      WHERE id LIKE '%/topics/full-%' AND (SELECT count(*) FROM change) >= CAST(substr(id, instr(id, 'full-') + 5) AS INTEGER);
  END;`

it('a full disk has a new configuration refused whole, at whichever change the space ends, and taken whole later', async () => {
  const subscriber = await startSubscriber()
  const state = join(temporaryFolder(), 'state.db')
  const azure = '33333333-3333-4333-8333-333333333333'
  const at = `/subscriptions/${azure}/resourceGroups/rg/providers/Microsoft.EventGrid`
  const role = { role: 'Reader', scope: `/subscriptions/${azure}` }
  const given = {
    state,
    clock: new ManualClock(0),
    ingress: [{ from: 'https://subscriber.example/', to: subscriber.url }],
  }
  const before: EventGridEmulatorOptions = {
    ...given,
    clients: [{ roles: [{ role: 'Owner' }, role] }],
    subscriptions: [{ id: azure }, { id: '44444444-3333-4333-8333-333333333333' }],
    topics: [{ name: 'orders' }, { name: 'returns' }],
    domains: [{ name: 'shop' }],
    systemTopics: [{ name: 'uploads', source: `${at}/topics/orders` }],
    namespaces: [
      { name: 'depot', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'app' }] }] },
      { name: 'store', topics: [{ name: 'shelves', eventSubscriptions: [{ name: 'app' }] }] },
    ],
    eventSubscriptions: [
      { name: 'audit', endpoint, topic: 'returns' },
      { name: 'lamps', endpoint, scope: `${at}/domains/shop/topics/lamps` },
    ],
  }
  const after: EventGridEmulatorOptions = {
    ...given,
    clients: [{ roles: [{ role: 'Owner' }] }, { clientId: 'another', clientSecret: 'known' }],
    subscriptions: [{ id: azure, resourceGroups: ['rg', 'more'] }],
    topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }, { name: 'stock' }],
    domains: [{ name: 'mall' }],
    systemTopics: [{ name: 'uploads', source: `${at}/topics/stock` }],
    namespaces: [{ name: 'depot', topics: [{ name: 'letters', eventSubscriptions: [{ name: 'app' }] }] }],
    eventSubscriptions: [
      { name: 'audit', endpoint, topic: 'stock' },
      { name: 'lamps', endpoint, scope: `${at}/domains/mall/topics/lamps` },
    ],
  }
  const arm = async (emulator: EventGridEmulator, path: string, sent?: HandRequest) =>
    (await sendArm(emulator, `/subscriptions/${azure}/${path}?api-version=2022-04-01`, sent)).body
  const roles = 'providers/Microsoft.Authorization/roleAssignments'
  /** All that a configuration decides, in the order of the alphabet. */
  const memory = async (emulator: EventGridEmulator) =>
    [
      ...[...emulator.topics(), ...emulator.domains()].map(({ id, keys }) => [id, keys]),
      ...emulator.systemTopics(),
      ...emulator.namespaceTopics().map(({ id, key }) => [id, key]),
      ...emulator.queues().keys(),
      ...emulator.eventSubscriptions(),
      ...emulator.clients(),
      await arm(emulator, 'resourceGroups'),
      // Those of the options have other ids after each start.
      ...Object(await arm(emulator, roles)).value.map(({ properties }: { readonly properties: object }) => properties),
    ]
      .map((one) => JSON.stringify(one))
      .sort()
  /** What a start at this moment would find. */
  const file = () => {
    const copy = join(temporaryFolder(), 'copy.db')
    for (const end of ['', '-wal']) copyFileSync(`${state}${end}`, `${copy}${end}`)
    const database = new DatabaseSync(copy)
    const rows = database.prepare('SELECT kind, id, value FROM kept').all()
    database.close()
    return rows
  }
  const first = await EventGridEmulator.start({ ...before, clients: [{ roles: [{ role: 'Owner' }] }] })
  // What the options give too is in the file all the same.
  const properties = {
    principalId: first.clients()[0]?.objectId,
    roleDefinitionId: `${at}/acdd72a7-3385-48ef-bd42-f606fba81ae7`,
  }
  await arm(first, `${roles}/d0000000-0000-4000-8000-000000000000`, {
    method: 'PUT',
    body: JSON.stringify({ properties }),
  })
  await first.idle()
  await first.close()
  const database = new DatabaseSync(state)
  database.exec(`CREATE TABLE change (n); ${fullWithTopic('INSERT', 'NEW')} ${fullWithTopic('DELETE', 'OLD')}
    CREATE TRIGGER first AFTER INSERT ON kept WHEN NEW.id LIKE '%/topics/full-%' BEGIN DELETE FROM change; END`)
  database.close()

  const emulator = await startEmulator(before)
  await emulator.idle()
  const had = { memory: await memory(emulator), file: file() }
  const configure = (changes: number) => {
    emulator.addTopic({ name: `full-${changes}` })
    try {
      emulator.reconfigure(after)
    } catch (error) {
      return error
    } finally {
      emulator.removeTopic(`full-${changes}`)
    }
  }
  let changes = 1
  for (; ; changes++) {
    const refusal = configure(changes)
    if (refusal === undefined) break
    expect(String(refusal)).toContain('the disk is full')
    expect({ memory: await memory(emulator), file: file() }, `change ${changes}`).toEqual(had)
  }
  expect(changes).toBeGreaterThan(20)
  await emulator.idle()
  const has = { memory: await memory(emulator), file: file() }
  await emulator.close()
  const later = await startEmulator(after)
  await later.idle()
  expect({ memory: await memory(later), file: file() }).toEqual(has)
})
