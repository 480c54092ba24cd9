/** Lists of Resource Manager: `$filter`, `$top` and pages, of each kind of list. */
import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { type EventGridEmulator, emulatorDefaults } from '../../src/index.ts'

const subscription = `/subscriptions/${emulatorDefaults.subscriptionId}`
const group = `${subscription}/resourceGroups/rg`
const names = ['region-east', 'Region-west', 'other']
const named = names.map((name) => ({ name }))
const hub = {
  endpointType: 'EventHub',
  properties: { resourceId: `${group}/providers/Microsoft.EventHub/namespaces/n/eventhubs/h` },
}
const accountOf = (name: string) => `${group}/providers/Microsoft.Storage/storageAccounts/${name.toLowerCase()}`

const open = () =>
  startEmulator({
    clients: [{ roles: [{ role: 'Owner' }] }],
    topics: named,
    domains: names.map((name) => ({ name: `d-${name}` })),
    systemTopics: names.map((name) => ({ name: `s-${name}`, source: accountOf(name) })),
    namespaces: names.map((name, index) => ({
      name: `n-${name}`,
      ...(index === 0 && {
        topics: [{ name: 'region-east', eventSubscriptions: named }, { name: 'Region-west' }, { name: 'other' }],
      }),
    })),
    eventSubscriptions: names.map((name) => ({ name, topic: 'other', properties: { destination: hub } })),
  })

async function listed(emulator: EventGridEmulator, path: string, query: string) {
  const { status, body } = await sendArm(emulator, `${path}?${query}&api-version=2025-02-15`)
  const found: { readonly name: string }[] = Object(body).value ?? []
  return { status, nextLink: Object(body).nextLink, names: found.map(({ name }) => name), body }
}

const filterOf = (filter: string) => `$filter=${encodeURIComponent(filter)}`
const eventGrid = `${group}/providers/Microsoft.EventGrid`
const onOther = `${eventGrid}/topics/other`

describe.each([
  { of: 'topics', path: `${eventGrid}/topics`, prefix: '' },
  { of: 'topics of a subscription', path: `${subscription}/providers/Microsoft.EventGrid/topics`, prefix: '' },
  { of: 'domains', path: `${eventGrid}/domains`, prefix: 'd-' },
  { of: 'system topics', path: `${eventGrid}/systemTopics`, prefix: 's-' },
  { of: 'namespaces', path: `${eventGrid}/namespaces`, prefix: 'n-' },
  { of: 'topics of a namespace', path: `${eventGrid}/namespaces/n-region-east/topics`, prefix: '' },
  {
    of: 'event subscriptions of a namespace topic',
    path: `${eventGrid}/namespaces/n-region-east/topics/region-east/eventSubscriptions`,
    prefix: '',
  },
  { of: 'event subscriptions of a topic', path: `${onOther}/eventSubscriptions`, prefix: '' },
  {
    of: 'event subscriptions of a resource',
    path: `${onOther}/providers/Microsoft.EventGrid/eventSubscriptions`,
    prefix: '',
  },
  {
    of: 'event subscriptions of a region',
    path: `${subscription}/providers/Microsoft.EventGrid/locations/westeurope/eventSubscriptions`,
    prefix: '',
  },
])('the list of $of', ({ path, prefix }) => {
  it('keeps those that fit the filter', async () => {
    const emulator = await open()
    const kept = async (filter: string) => (await listed(emulator, path, filterOf(filter))).names.toSorted()
    const wanted = (...some: readonly string[]) => some.map((name) => prefix + name).toSorted()
    expect(await kept(`name eq '${prefix}other'`)).toEqual(wanted('other'))
    expect(await kept(`contains(name, 'eg')`)).toEqual(wanted('region-east', 'Region-west'))
    expect(await kept(`contains(namE, 'REGI') and name ne '${prefix}region-WEST'`)).toEqual(wanted('region-east'))
    expect(await kept(`not contains(name,'eg') or name eq '${prefix}region-east'`)).toEqual(
      wanted('other', 'region-east'),
    )
    expect(await kept(`not (contains(name, 'east') or contains(name, 'west'))`)).toEqual(wanted('other'))
    expect(await kept(`NAME NE 'a' AND (Contains(Name,'west'))`)).toEqual(wanted('Region-west'))
  })

  it('refuses what cannot be read', async () => {
    const emulator = await open()
    for (const query of [filterOf("location eq 'westus'"), '$top=101', '$top=0']) {
      const answer = await listed(emulator, path, query)
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'InvalidRequest' } } })
    }
  })

  it('goes on with the rest of what fits', async () => {
    const emulator = await open()
    const first = await listed(emulator, path, `$top=1&${filterOf("contains(name, 'region')")}`)
    expect(first.names).toHaveLength(1)
    const { pathname, search } = new URL(first.nextLink)
    const second = Object((await sendArm(emulator, `${pathname}${search}`)).body)
    const all = [...first.names, ...second.value.map(({ name }: { readonly name: string }) => name)]
    expect(all.toSorted()).toEqual([`${prefix}Region-west`, `${prefix}region-east`].toSorted())
    expect(second.nextLink).toBeUndefined()
  })
})

const refusedFilters = [
  "location eq 'westus'",
  "name gt 'a'",
  "name eq 'a",
  'name eq a',
  "name eq 'a' name eq 'b'",
  "name eq 'a' and",
  "contains('a', name)",
  "startswith(name, 'a')",
  "(name eq 'a'",
  "name eq 'a')",
  'name',
  '()',
  `${'('.repeat(500)}name eq 'a'${')'.repeat(500)}`,
]

it.each([...refusedFilters.map(filterOf), ...['0', '101', '-1', 'ten', '1.5', ''].map((top) => `$top=${top}`)])(
  'a list of topics with %s is refused',
  async (query) => {
    expect((await listed(await open(), `${eventGrid}/topics`, query)).status).toBe(400)
  },
)

it('lists by topic type have the event subscriptions of system topics of that type too', async () => {
  const emulator = await open()
  const path = `${eventGrid}/systemTopics/s-other/eventSubscriptions/shop`
  const body = JSON.stringify({ properties: { destination: hub } })
  await sendArm(emulator, `${path}?api-version=2025-02-15`, { method: 'PUT', body })
  const of = (type: string) =>
    listed(emulator, `${eventGrid}/locations/westeurope/topicTypes/${type}/eventSubscriptions`, '')
  expect((await of('Microsoft.Storage.StorageAccounts')).names).toEqual(['shop'])
  expect((await of('Microsoft.EventGrid.Topics')).names).toHaveLength(3)
})

it('a quote in a text is written twice', async () => {
  const emulator = await open()
  expect((await listed(emulator, `${eventGrid}/topics`, filterOf("name ne 'it''s'"))).names).toHaveLength(3)
})

it('a list has 20 items a page, where no more are asked for', async () => {
  const emulator = await startEmulator({
    clients: [{ roles: [{ role: 'Owner' }] }],
    topics: Array.from({ length: 25 }, (_, index) => ({ name: `topic-${index}` })),
  })
  const first = await listed(emulator, `${eventGrid}/topics`, '')
  expect(first.names).toHaveLength(20)
  const { pathname, search } = new URL(first.nextLink)
  expect(Object((await sendArm(emulator, `${pathname}${search}`)).body).value).toHaveLength(5)
  expect((await listed(emulator, `${eventGrid}/topics`, '$top=100')).names).toHaveLength(25)
})

it.each([`${subscription}/resources`, `${group}/resources`])('%s is filtered too, by name and type', async (path) => {
  const emulator = await open()
  const kept = await listed(
    emulator,
    path,
    filterOf("resourceType eq 'Microsoft.EventGrid/domains' and contains(name, 'west')"),
  )
  expect(kept.names).toEqual(['d-Region-west'])
  expect((await listed(emulator, path, filterOf("tagName eq 'a'"))).status).toBe(400)
})
