import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { handshakeAgainMs } from '../../../src/emulator/arm/subscriptions/provisioning.ts'
import { EventGridEmulator, type EventGridEmulatorOptions, ManualClock } from '../../../src/emulator/index.ts'
import { credentialOf, sendArm } from '../../support/azure-clients.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { warningThatSays } from '../../support/warning.ts'
import { grant, type Subscriber, startSubscriber } from '../subscriber.ts'

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
    trouble: async () => Object(await (await fetch(`${emulator.proxy}/page/state`)).json()).trouble,
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
  await expect(full.trouble()).resolves.toContain('the disk is full')
  // The next change goes through, and the one before with it.
  full.emulator.addTopic({ name: 'returns' })
  await expect(full.trouble()).resolves.toBeUndefined()
  await expect(full.stored()).resolves.toEqual([])
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
