import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import type { Loaded } from '../../../src/metadata/load/load-files.ts'
import { sortRecord } from '../../../src/metadata/load/secrets.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'
import { loadTexts } from '../../support/load-texts.ts'

const key = 'an-access-key-nobody-may-see'

const component = (
  name: string,
  { type = 'bindings.azure.eventgrid', accessKey = `{ value: ${key} }`, more = '' } = {},
) => `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec:
  type: ${type}
  version: v1
  metadata:
    - { name: topicEndpoint, value: "https://${name}.westeurope-1.eventgrid.azure.net/api/events" }
    - { name: accessKey, ${accessKey.slice(1, -1)} }
${more}`

/** A secret store named `local`, or another, of a type, with fields of its own. */
const secretStore = (type: string, fields: Record<string, unknown> = {}, { name = 'local', more = '' } = {}) => {
  const metadata = Object.entries(fields).map(([field, value]) => ({ name: field, value }))
  return `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec: { type: ${type}, metadata: ${JSON.stringify(metadata)} }
${more}`
}
const inLocal = 'auth: { secretStore: local }'
const localFile = 'secretstores.local.file'
const localEnv = 'secretstores.local.env'

type Files = Readonly<Record<string, string | Error>>
const load = (files: Files, env = {}, secrets = {}, appId = 'shop') =>
  loadTexts(files, { appId, env, given: sortRecord(secrets) })

it('fills in what daprd fills in, and says where nothing is known of it', () => {
  const more = '    - { name: route, value: "/{appID}/{podName}" }'
  const text = component('alpha', { accessKey: '{ envRef: KEY }', more })
  const env = { KEY: '{namespace}', POD_NAME: 'shop-0' }
  const { properties } = load({ 'a.yaml': text }, env).components.get('alpha')?.component ?? {}
  const shown = Object.values(properties ?? {}).map((value) => (value instanceof Secret ? value.reveal() : value))
  expect(shown).toEqual([expect.any(String), 'default.shop', '/shop/shop-0'])
  expect(load({ 'a.yaml': text }, { KEY: 'x' }).faults).toEqual([
    expect.stringMatching(/^a\.yaml:11:29: route refers to \{podName\}, which has no value; set POD_NAME/),
  ])
})

it('gives the components without a fault, with every fault of the others', () => {
  const { components, faults } = load({ 'a.yaml': 'kind: [', 'b.yaml': component('gamma') })
  expect([...components.keys()]).toEqual(['gamma'])
  expect(faults).toEqual([expect.stringMatching(/a\.yaml:1:\d+: is not valid YAML here/)])
})

it.each([
  ['a typo in its type', component('alpha', { type: 'bindings.azure.eventgird' }), /did you mean bindings\.azure/],
  ['a typo in its kind', component('alpha').replace('kind: Component', 'kind: Componet'), /did you mean Component/],
  ['nothing', '', /^a\.yaml:1:1: holds no component/],
  ['a separator', '---\n', /holds no component/],
  ['separators, an end and nulls', '---\n~\n---\nnull\n...\n', /holds no component/],
  ['comments', `# ${component('alpha').replaceAll('\n', '\n# ')}\n`, /holds no component/],
])('takes a file with %s for a mistake, which is no fault', (_name, text, says) => {
  const { components, mistakes, faults, notes } = load({ 'a.yaml': text })
  expect([...components, ...faults, ...notes]).toEqual([])
  expect(mistakes).toEqual([expect.stringMatching(says)])
})

it.each<[name: string, text: string | Error, fault: RegExp]>([
  ['broken metadata', component('alpha').replace('https', 'ftp'), /topicEndpoint/],
  ['another version', component('alpha').replace('v1\n', 'v2\n'), /must be v1/],
  ['a secret that is not there', component('alpha', { accessKey: '{ secretKeyRef: { name: gone } }' }), /"gone"/],
  [
    'a port that nobody can lead an ingress to',
    component('alpha', { more: '    - { name: handshakePort, value: "0" }' }),
    /handshakePort must be a port from 1 to 65535/,
  ],
  ['a file that cannot be read', new Error('EACCES'), /can't be read: EACCES/],
])('names the file of %s', (_name, text, fault) => {
  const { faults, components } = load({ 'dir/a.yaml': text })
  expect(faults).toEqual([expect.stringMatching(/dir\/a\.yaml/)])
  expect(faults).toEqual([expect.stringMatching(fault)])
  expect(components.size).toBe(0)
})

it('tells the faults of the second of two components of one name too', () => {
  const second = component('alpha').replace('https', 'ftp')
  const { issues } = load({ 'a.yaml': component('alpha'), 'b.yml': second })
  expect(issues.map(({ field, rule }) => field ?? rule)).toEqual([
    expect.stringContaining('is defined at a.yaml'),
    'topicEndpoint',
  ])
})

it('lets the first of two components of one name count, and says so', () => {
  const { faults, components } = load({
    'a.yaml': component('alpha'),
    'b.yml': component('alpha', { type: 'bindings.cloud.eventrouter' }),
  })
  expect(components.get('alpha')?.component.type).toBe('bindings.azure.eventgrid')
  expect(faults).toEqual(['b.yml:4:19: component "alpha" is defined at a.yaml:4:19 too, which is used'])
})

it.each([
  { appId: 'shop', note: 'is for billing, not for shop' },
  { appId: 'billing', note: 'is for shop, not for billing' },
])('takes the one for $appId of two of the same name in one file', ({ appId, note }) => {
  const [ours, theirs] = ['shop', 'billing'].map((id) => component('alpha', { more: `scopes: [${id}]` }))
  const { components, faults, notes } = load({ 'a.yaml': `${ours}\n---${theirs}` }, {}, {}, appId)
  expect([...components.keys()]).toEqual(['alpha'])
  expect({ faults, notes }).toEqual({ faults: [], notes: [`a.yaml: component alpha ${note}: left out`] })
})

it('leaves out what is for some applications where it does not know for which one it runs', () => {
  const text = component('alpha', { more: 'scopes: [shop]' })
  const { components, notes } = load({ 'a.yaml': text }, {}, {}, '')
  expect(components.size).toBe(0)
  expect(notes).toEqual([
    'a.yaml: component alpha is for shop, and there is no application id (give --app-id NAME): left out',
  ])
})

it('points at the name of an unknown field, and for a missing field at the list of the fields', () => {
  const misspelled = component('alpha').replace('topicEndpoint', 'topicEndpint')
  expect(load({ 'a.yaml': misspelled }).faults.join().split('\n')).toEqual([
    expect.stringMatching(/^a\.yaml:8:3: topicEndpoint is required on the output side; write /),
    'a.yaml:9:15: "topicEndpint" is not a field of this component; did you mean topicEndpoint?',
  ])
})

it.each([
  { count: 50, lines: 50, last: /^a\.yaml:60:.*field49/ },
  { count: 53, lines: 51, last: /^and 3 more$/ },
])('lists the first 50 faults of a file that has $count', ({ count, lines, last }) => {
  const more = Array.from({ length: count }, (_, index) => `    - { name: field${index}, envRef: UNSET }\n`).join('')
  const said = load({ 'a.yaml': component('alpha', { more }) }).faults.flatMap((text) => text.split('\n'))
  expect(said).toHaveLength(lines)
  expect(said.at(-1)).toMatch(last)
})

it('judges nothing of what it leaves out', () => {
  const pubsub = `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: pubsub }
spec:
  type: pubsub.redis
  metadata:
    - { name: consumerID, value: "{podName}" }
    - { name: password, secretKeyRef: { name: gone } }`
  const route = '    - { name: route, value: "{podName}" }\nscopes: [billing]'
  const { faults, components, notes } = load({
    'a.yaml': `${component('alpha')}---${pubsub}`,
    'b.yaml': component('beta', { more: route }),
  })
  expect(faults).toEqual([])
  expect([...components.keys()]).toEqual(['alpha'])
  expect(notes).toHaveLength(2)
})

describe('secret stores', () => {
  const accessKey = '{ secretKeyRef: { name: event-grid } }'

  /** A folder of secrets files: gives the YAML of a store for one of them. */
  function openFolder() {
    const { path } = makeComponentFolder()
    return {
      store(name: string, value: string, { more = '', file = value } = {}) {
        writeFileSync(`${path}/${value}.json`, JSON.stringify({ 'event-grid': value }))
        return secretStore(localFile, { secretsFile: `${path}/${file}.json` }, { name, more })
      },
    }
  }
  const alpha = component('alpha', { accessKey, more: 'auth: { secretStore: one }' })
  const withKey = (value: string) =>
    load({ 'a.yaml': component('alpha', { accessKey: `{ value: ${value} }` }) }).components.get('alpha')?.fingerprint
  const keyOf = ({ components }: Loaded) => components.get('alpha')?.fingerprint

  it('that cannot be read are a fault of their own', () => {
    const folder = openFolder()
    const files = {
      'a.yaml': `${alpha}\n---${component('beta')}`,
      'b.yaml': folder.store('one', 'key-1', { file: 'gone' }),
    }
    const { faults, components } = load(files)
    expect(faults).toEqual([
      expect.stringMatching(/^b\.yaml:4:19: secret store one: \S+gone\.json can't be read: ENOENT/),
    ])
    expect([...components.keys()]).toEqual(['beta'])
  })

  it('that may be missing take only the components away that need them', () => {
    const folder = openFolder()
    const store = folder.store('one', 'key-1', { file: 'gone' }).replace('spec: {', 'spec: { ignoreErrors: true,')
    const { faults, components, notes } = load({ 'a.yaml': `${alpha}\n---${component('beta')}`, 'b.yaml': store })
    expect([...components.keys()]).toEqual(['beta'])
    expect(faults).toEqual([expect.stringContaining('accessKey')])
    expect(notes.join()).toMatch(/secret store one: \S+gone\.json can't be read: ENOENT/)
  })

  it('take their own fields from envRef', () => {
    const store = secretStore(localEnv, {}, { name: 'one' }).replace('[]', '[{ name: prefix, envRef: PREFIX }]')
    const env = { PREFIX: 'SHOP_', 'SHOP_event-grid': 'right', 'event-grid': 'another' }
    expect(keyOf(load({ 'a.yaml': alpha, 'b.yaml': store }, env))).toBe(withKey('right'))
  })

  it('come after the secrets that are given', () => {
    const folder = openFolder()
    const files = { 'a.yaml': alpha, 'b.yaml': folder.store('one', 'key-1') }
    expect(keyOf(load(files))).toBe(withKey('key-1'))
    expect(keyOf(load(files, {}, { 'event-grid': 'given' }))).toBe(withKey('given'))
  })

  it.each(['', 'auth: { secretStore: "" }'])('serve the components that name them: not one with "%s"', (more) => {
    const folder = openFolder()
    const unnamed = component('alpha', { accessKey, more })
    expect(load({ 'a.yaml': unnamed, 'b.yaml': folder.store('one', 'key-1') }).faults).toEqual([
      expect.stringContaining('names no secret store: write auth: { secretStore: one }; or put'),
    ])
  })

  it('count by the order of their files where two have one name', () => {
    const folder = openFolder()
    const stores = { 'b.yaml': folder.store('one', 'key-1'), 'c.yaml': folder.store('one', 'key-2') }
    const { faults, components } = load({ 'a.yaml': alpha, ...stores })
    expect(faults).toEqual(['c.yaml:4:19: secret store "one" is defined at b.yaml:4:19 too, which is used'])
    expect(components.get('alpha')?.fingerprint).toBe(withKey('key-1'))
  })

  it('of other applications are none', () => {
    const folder = openFolder()
    const other = folder.store('one', 'key-2', { more: 'scopes: [billing]' })
    const files = { 'a.yaml': alpha, 'b.yaml': other, 'c.yaml': folder.store('one', 'key-1') }
    expect(keyOf(load(files))).toBe(withKey('key-1'))
    expect(load({ 'a.yaml': alpha, 'c.yaml': other }).faults).toEqual([expect.stringContaining('"event-grid"')])
  })

  it('have placeholders too', () => {
    const folder = openFolder()
    const store = folder.store('one', 'shop', { file: '{appID}' })
    expect(keyOf(load({ 'a.yaml': alpha, 'b.yaml': store }))).toBe(withKey('shop'))
  })

  it.each(['auth: one', 'auth: { secretStore: 5 }'])('are named as text: not by %s', (more) => {
    const folder = openFolder()
    const text = component('alpha', { accessKey, more })
    expect(load({ 'a.yaml': text, 'b.yaml': folder.store('one', 'key-1') }).faults).toEqual([
      expect.stringMatching(/a\.yaml:\d+:\d+: auth must name a store as text/),
    ])
  })

  it('are not what an object of JavaScript has by itself', () => {
    for (const type of ['constructor', '__proto__'])
      expect(load({ 'a.yaml': component('alpha', { type }) }).faults).toEqual([])
  })
})

describe('a secret that is missing', () => {
  const accessKey = '{ secretKeyRef: { name: event-grid, key: accessKey } }'
  const advice = 'put { "event-grid": { "accessKey": "…" } } somewhere'

  const store = secretStore(localEnv)

  it.each([
    { name: 'no secret store', more: '', files: {} },
    { name: 'the one that it names', more: inLocal, files: { 'z.yaml': store } },
  ])('is told where to go where there is $name', ({ more, files }) => {
    const { faults } = load({ 'a.yaml': component('alpha', { accessKey, more }), ...files })
    expect(faults).toEqual([expect.stringContaining(`as text; ${advice}`)])
  })

  it('is not taken from another store than its component names', () => {
    const { path } = makeComponentFolder()
    const store = (name: string, value: string) => {
      writeFileSync(`${path}/${name}.json`, JSON.stringify({ 'event-grid': { accessKey: value } }))
      return secretStore(localFile, { secretsFile: `${path}/${name}.json` }, { name })
    }
    const stores = { 'x.yaml': store('right', key), 'y.yaml': store('wrong', 'another') }
    const named = (name: string) => component('alpha', { accessKey, more: `auth: { secretStore: ${name} }` })
    const inline = load({ 'a.yaml': component('alpha') }).components.get('alpha')
    const { components } = load({ 'a.yaml': named('right'), ...stores })
    expect(components.get('alpha')?.fingerprint).toBe(inline?.fingerprint)
    expect(load({ 'a.yaml': named('gone'), ...stores }).faults).toEqual([
      expect.stringContaining(`there is no secret store "gone"; ${advice}`),
    ])
  })

  it('is not reported where a store could not be read, and all else is', () => {
    const { faults, components } = load({
      'a.yaml': component('alpha', { accessKey, more: inLocal }),
      'b.yaml': component('beta', { accessKey, more: inLocal }).replace('https', 'ftp'),
      'z.yaml': secretStore(localFile, { secretsFile: 'gone/secrets.json' }),
    })
    expect(faults).toEqual([
      expect.stringMatching(/^z\.yaml:4:19: secret store local: gone\/secrets\.json can't be read: ENOENT/),
      expect.stringMatching(/^b\.yaml:9:37: topicEndpoint/),
    ])
    expect(faults[0]).toContain(`; a relative path counts from the working folder, ${process.cwd()}`)
    expect(components.size).toBe(0)
  })
})

it.each([
  ['the file of a local file store', localFile, 'secretsFile', {}],
  ['the file of a store whose field is written otherwise', localFile, 'SecretsFile', {}],
  ['the environment', 'SecretStores.Local.Env', 'secretsFile', { SHOP_topic: key, OTHERtopic: 'another' }],
])('finds secrets in %s', (_name, store, field, env) => {
  const { path } = makeComponentFolder()
  writeFileSync(`${path}/secrets.json`, JSON.stringify({ topic: key }))
  const files = {
    'a.yaml': component('alpha', { accessKey: '{ secretKeyRef: { name: topic, key: topic } }', more: inLocal }),
    'z.yaml': secretStore(store, { [field]: `${path}/secrets.json`, prefix: 'SHOP_' }),
  }
  const loaded = load(files, env)
  expect({ faults: loaded.faults, notes: loaded.notes }).toEqual({ faults: [], notes: [] })
  const inline = load({ 'a.yaml': component('alpha') })
  expect(loaded.components.get('alpha')?.fingerprint).toBe(inline.components.get('alpha')?.fingerprint)
})

it.each([
  { name: 'DAPR_API_TOKEN', faults: 1 },
  { name: 'dapr_anything', faults: 1 },
  { name: 'APP_API_TOKEN', faults: 1 },
  { name: 'APP_API_TOKEN_2', faults: 0 },
])('keeps the tokens of Dapr itself from components, as Dapr does: $name gives $faults faults', ({ name, faults }) => {
  const store = secretStore(localEnv)
  const text = component('alpha', { accessKey: `{ secretKeyRef: { name: ${name} } }`, more: inLocal })
  expect(load({ 'a.yaml': text, 'b.yaml': store }, { [name]: 'x' }).faults).toHaveLength(faults)
  const byReference = component('alpha', { accessKey: `{ envRef: ${name} }` })
  expect(load({ 'a.yaml': byReference }, { [name]: 'x' }).faults).toHaveLength(faults)
})

it.each([
  { name: 'no JSON', text: `{ "topic": ${key} }` },
  { name: 'an array', text: `["${key}"]` },
  { name: 'null', text: 'null' },
])('quotes nothing of a secrets file that holds $name', ({ text }) => {
  const { path } = makeComponentFolder()
  writeFileSync(`${path}/secrets.json`, text)
  const { faults } = load({ 'z.yaml': secretStore(localFile, { secretsFile: `${path}/secrets.json` }) })
  expect(faults).toEqual([`z.yaml:4:19: secret store local: ${path}/secrets.json must hold a JSON object`])
})

it('says of a local file store without a file what is missing', () => {
  const { faults } = load({ 'z.yaml': secretStore(localFile) })
  expect(faults).toEqual(['z.yaml:4:19: secret store local: secretsFile is missing'])
})

it('tells a component whose secret or type has changed from what it was, and shows no secret', () => {
  const [one, two, again] = [key, `${key}-2`, key].map((value) =>
    load({ 'a.yaml': component('alpha', { accessKey: `{ value: ${value} }` }) }),
  )
  expect(one?.components.get('alpha')?.fingerprint).not.toBe(two?.components.get('alpha')?.fingerprint)
  const typed = load({ 'a.yaml': component('alpha', { type: 'bindings.cloud.eventrouter' }) })
  expect(one?.components.get('alpha')?.fingerprint).not.toBe(typed.components.get('alpha')?.fingerprint)
  expect(one?.components.get('alpha')?.fingerprint).toBe(again?.components.get('alpha')?.fingerprint)
  expect(inspect([one, two], { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(key)
  expect(JSON.stringify([...(one?.components.values() ?? [])])).not.toContain(key)
})
