import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { storageAccountId } from '../../../../test/support/azure-ids.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { EventGridEmulator, EventGridEmulatorOptions } from '../../src/index.ts'
import { startSubscriber } from '../subscriber.ts'

const webhook = 'https://subscriber.example/hook'
const version = '?api-version=2025-02-15'
const audit = { name: 'audit', endpoint: webhook }
const domain =
  '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.EventGrid/domains/tenants'

/** All that a configuration decides. */
const stateOf = (emulator: EventGridEmulator) => ({
  topics: emulator.topics(),
  domains: emulator.domains(),
  systemTopics: emulator.systemTopics(),
  namespaceTopics: emulator.namespaceTopics(),
  queues: [...emulator.queues().keys()],
  eventSubscriptions: emulator.eventSubscriptions(),
  clients: emulator.clients(),
})

describe('what was written through ARM to a declared resource', () => {
  const declared = {
    clients: [{ roles: [{ role: 'Owner' }] }],
    topics: [{ name: 'orders' }],
    domains: [{ name: 'tenants' }],
    systemTopics: [{ name: 'uploads', source: storageAccountId }],
  }
  const written = {
    orders: { tags: { team: 'a' }, properties: { disableLocalAuth: true, publicNetworkAccess: 'Disabled' } },
    tenants: { properties: { autoCreateTopicWithFirstSubscription: false } },
    uploads: { tags: { team: 'b' } },
  }
  /** The resources, by their names, as ARM shows them. */
  async function shownBy(emulator: EventGridEmulator) {
    const resources = [...emulator.topics(), ...emulator.domains(), ...emulator.systemTopics()]
    const shown = resources.map(async ({ name, id }) => [name, (await sendArm(emulator, `${id}${version}`)).body])
    return Object.fromEntries(await Promise.all(shown))
  }
  async function startWritten(options: EventGridEmulatorOptions = {}) {
    const emulator = await startEmulator({ ...declared, ...options })
    for (const { name, id } of [...emulator.topics(), ...emulator.domains(), ...emulator.systemTopics()]) {
      const body = JSON.stringify(Object(written)[name])
      await sendArm(emulator, `${id}${version}`, { method: 'PATCH', body })
    }
    await emulator.idle()
    expect(await shownBy(emulator)).toMatchObject(written)
    return emulator
  }

  it('stays when the configuration is read again, and after a restart', async () => {
    const state = join(temporaryFolder(), 'state')
    const emulator = await startWritten({ state })
    emulator.reconfigure(declared)
    expect(await shownBy(emulator)).toMatchObject(written)
    await emulator.close()
    expect(await shownBy(await startEmulator({ ...declared, state }))).toMatchObject(written)
  })

  it('gives way to what the configuration says, and to a reset', async () => {
    const emulator = await startWritten()
    emulator.reconfigure({ ...declared, topics: [{ name: 'orders', disableLocalAuth: false }] })
    expect((await shownBy(emulator)).orders).toMatchObject({
      tags: { team: 'a' },
      properties: { disableLocalAuth: false },
    })
    await emulator.reset({ resources: true })
    expect((await shownBy(emulator)).orders).toMatchObject({
      tags: null,
      properties: { publicNetworkAccess: 'Enabled' },
    })
  })

  it('is not what an earlier configuration said', async () => {
    const emulator = await startEmulator({ ...declared, topics: [{ name: 'orders', disableLocalAuth: true }] })
    emulator.reconfigure(declared)
    expect((await shownBy(emulator)).orders.properties).not.toHaveProperty('disableLocalAuth')
  })
})

describe('a configuration that cannot be applied changes nothing', () => {
  it.each<{ fault: string; options: EventGridEmulatorOptions }>([
    {
      fault: 'an event subscription of an unknown topic',
      options: { eventSubscriptions: [{ ...audit, topic: 'gone' }] },
    },
    {
      fault: 'a destination that ARM refuses',
      options: { eventSubscriptions: [{ ...audit, properties: { labels: 1 } }] },
    },
    { fault: 'a name that ARM refuses', options: { eventSubscriptions: [audit, { name: 'a', endpoint: webhook }] } },
    {
      fault: 'an unknown Azure subscription',
      options: { systemTopics: [{ name: 'sys', source: '/s', subscriptionId: 'x' }] },
    },
    { fault: 'a name that is taken', options: { topics: [{ name: 'same' }], domains: [{ name: 'same' }] } },
    {
      fault: 'a Queue event subscription that ARM refuses',
      options: {
        namespaces: [
          {
            name: 'shop',
            topics: [{ name: 'new', eventSubscriptions: [{ name: 'app', properties: { filtersConfiguration: 1 } }] }],
          },
        ],
      },
    },
    { fault: 'an unknown role', options: { clients: [{ clientId: 'other', roles: [{ role: 'Nobody' }] }] } },
  ])('$fault', async ({ options }) => {
    const subscriber = await startSubscriber()
    const emulator = await startEmulator({
      ingress: [{ from: 'https://subscriber.example/', to: subscriber.url }],
      domains: [{ name: 'tenants' }],
      systemTopics: [
        { name: 'uploads', source: '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a' },
      ],
      namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'app' }] }] }],
      eventSubscriptions: [audit, { ...audit, scope: `${domain}/topics/lamps` }],
    })
    await emulator.idle()
    const before = stateOf(emulator)
    const asked = subscriber.requests.length
    // The topics, the clients and the rest that this one leaves out would go.
    expect(() => emulator.reconfigure({ topics: [{ name: 'stock' }], ...options })).toThrow()
    await emulator.idle()
    expect(stateOf(emulator)).toEqual(before)
    expect(subscriber.requests).toHaveLength(asked)
    emulator.raise('orders', [{ specversion: '1.0', id: 'a', source: '/shop', type: 'order' }])
    await emulator.settled({ timeout: 10_000 })
    expect(subscriber.deliveries()).toHaveLength(1)
  })

  it('and the one after it is applied whole', async () => {
    const emulator = await startEmulator()
    expect(() => emulator.reconfigure({ eventSubscriptions: [{ ...audit, topic: 'gone' }] })).toThrow()
    emulator.reconfigure({ topics: [{ name: 'stock' }], domains: [{ name: 'tenants' }] })
    expect(emulator.topics().map(({ name }) => name)).toEqual(['stock'])
    expect(emulator.domains().map(({ name }) => name)).toEqual(['tenants'])
  })
})
