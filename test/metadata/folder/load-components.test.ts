import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { sortRecord } from '../../../src/metadata/folder/given-secrets.ts'
import type { Loaded } from '../../../src/metadata/folder/load-components.ts'
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
const localFile = 'secretstores.local.file'
const localEnv = 'secretstores.local.env'

type Files = Readonly<Record<string, string | Error>>
const load = (files: Files, before?: Loaded, env = {}, secrets = {}, appId = 'shop') =>
  loadTexts(files, { appId, env, given: sortRecord(secrets), before })

it('fills in what daprd fills in, and says where nothing is known of it', () => {
  const more = '    - { name: route, value: "/{appID}/{podName}" }'
  const text = component('alpha', { accessKey: '{ envRef: KEY }', more })
  const env = { KEY: '{namespace}', POD_NAME: 'shop-0' }
  const { properties } = load({ 'a.yaml': text }, undefined, env).components.get('alpha')?.component ?? {}
  const shown = Object.values(properties ?? {}).map((value) => (value instanceof Secret ? value.reveal() : value))
  expect(shown).toEqual([expect.any(String), 'default.shop', '/shop/shop-0'])
  expect(load({ 'a.yaml': text }, undefined, { KEY: 'x' }).faults).toEqual([
    expect.stringMatching(/^a\.yaml:11:29: route refers to \{podName\}, which has no value; set POD_NAME/),
  ])
})

it('keeps what a broken file held, and takes over what the others say', () => {
  const before = load({ 'a.yaml': component('alpha'), 'b.yaml': component('beta') })
  const after = load({ 'a.yaml': 'kind: [', 'b.yaml': component('gamma') }, before)
  expect([...after.components.keys()]).toEqual(['alpha', 'gamma'])
  expect(after.faults).toEqual([expect.stringMatching(/a\.yaml:1:\d+: is not valid YAML here/)])
})

it.each([
  ['type', component('alpha', { type: 'bindings.azure.eventgird' }), /did you mean bindings\.azure\.eventgrid/],
  ['kind', component('alpha').replace('kind: Component', 'kind: Componet'), /did you mean Component/],
])(
  'keeps what a file held that now has a typo in its %s, which is a note in a file that held nothing',
  (_name, text, says) => {
    const before = load({ 'a.yaml': component('alpha') })
    const after = load({ 'a.yaml': text }, before)
    expect([...after.components.keys()]).toEqual(['alpha'])
    expect(after.faults).toEqual([expect.stringMatching(says)])
    expect(after.notes).toEqual([])
    const first = load({ 'a.yaml': text })
    expect(first.notes).toEqual([expect.stringMatching(says)])
    expect(first.faults).toEqual([])
  },
)

it.each([
  { name: 'nothing', text: '' },
  { name: 'white space', text: ' \n\t\n' },
  { name: 'a separator', text: '---\n' },
  { name: 'separators, an end and nulls', text: '---\n~\n---\nnull\n...\n' },
  { name: 'comments', text: `# ${component('alpha').replaceAll('\n', '\n# ')}\n` },
  { name: 'zero bytes', text: '\0'.repeat(512) },
  { name: 'a list of nothing', text: 'kind: List\nitems: []\n' },
  { name: 'a list that was cut', text: 'apiVersion: v1\nkind: List\nitems:\n' },
  { name: 'an empty mapping', text: '{}' },
  { name: 'an empty list', text: '[]' },
])('keeps what a file held that now holds $name, also the second time, and names the file', ({ text }) => {
  const first = load({ 'a.yaml': component('alpha'), 'b.yaml': component('beta') })
  const second = load({ 'a.yaml': text, 'b.yaml': component('gamma') }, first)
  const third = load({ 'a.yaml': `${text}\n`, 'b.yaml': component('delta') }, second)
  expect([second, third].map(({ components }) => [...components.keys()])).toEqual([
    ['alpha', 'gamma'],
    ['alpha', 'delta'],
  ])
  for (const { faults } of [second, third]) expect(faults).toEqual([expect.stringMatching(/^a\.yaml/)])
  expect([...load({ 'b.yaml': component('delta') }, third).components.keys()]).toEqual(['delta'])
})

const item = `- ${component('alpha').trimEnd().replaceAll('\n', '\n  ')}\n`

it.each([
  { form: 'a document', text: component('alpha') },
  { form: 'a list', text: `kind: List\napiVersion: v1\nitems:\n${item}` },
  { form: 'a list whose kind stands last', text: `items:\n${item}kind: ComponentList\n` },
])('goes on with a component while its file, $form, is written, wherever the writer is', ({ text }) => {
  const before = load({ 'a.yaml': text })
  const lost = Array.from({ length: text.length }, (_, length) => text.slice(0, length)).filter(
    (part) => !load({ 'a.yaml': part }, before).components.has('alpha'),
  )
  expect(lost).toEqual([])
})

it('keeps the secret store of a file that now holds nothing', () => {
  const { path } = makeComponentFolder()
  writeFileSync(`${path}/one.json`, JSON.stringify({ 'event-grid': key }))
  const store = secretStore(localFile, { secretsFile: `${path}/one.json` }, { name: 'one' })
  const accessKey = '{ secretKeyRef: { name: event-grid } }'
  const before = load({ 'a.yaml': component('alpha', { accessKey }), 'b.yaml': store })
  const moved = component('alpha', { accessKey, more: '    - { name: route, value: /elsewhere }' })
  const after = load({ 'a.yaml': moved, 'b.yaml': '---' }, before)
  expect(after.components.get('alpha')?.component.properties).toHaveProperty('route')
  expect(after.faults).toEqual([expect.stringMatching(/^b\.yaml holds no component/)])
})

it('takes away a component whose type is now of another kind', () => {
  const before = load({ 'a.yaml': component('alpha') })
  const after = load({ 'a.yaml': component('alpha', { type: 'bindings.kafka' }) }, before)
  expect([...after.components.keys()]).toEqual([])
  expect(after.faults).toEqual([])
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

it('lets the first of two components of one name count, and says so', () => {
  const { faults, components } = load({
    'a.yaml': component('alpha'),
    'b.yml': component('alpha', { type: 'bindings.cloud.eventrouter' }),
  })
  expect(components.get('alpha')?.component.type).toBe('bindings.azure.eventgrid')
  expect(faults).toEqual(['b.yml:4:19: component "alpha" is defined in a.yaml too, which is used'])
})

it.each(['a.yaml', 'z.yaml'])('lets a component that runs count before a copy of it in %s', (file) => {
  const copy = { [file]: component('alpha', { type: 'bindings.cloud.eventrouter' }) }
  const running = { 'b.yaml': component('alpha') }
  const copied = Object.fromEntries(Object.entries({ ...copy, ...running }).sort())
  const once = load(copied, load(running))
  const twice = load({ ...copied, 'c.yaml': component('gamma') }, once)
  for (const { faults, components } of [once, twice]) {
    expect(components.get('alpha')?.component.type).toBe('bindings.azure.eventgrid')
    expect(faults).toEqual([`${file}:4:19: component "alpha" is defined in b.yaml too, which is used`])
  }
  expect(load(copy, twice).components.get('alpha')?.component.type).toBe('bindings.cloud.eventrouter')
})

it.each([
  { appId: 'shop', note: 'is for billing, not for shop' },
  { appId: 'billing', note: 'is for shop, not for billing' },
])('takes the one for $appId of two of the same name in one file', ({ appId, note }) => {
  const [ours, theirs] = ['shop', 'billing'].map((id) => component('alpha', { more: `scopes: [${id}]` }))
  const { components, faults, notes } = load({ 'a.yaml': `${ours}\n---${theirs}` }, undefined, {}, {}, appId)
  expect([...components.keys()]).toEqual(['alpha'])
  expect({ faults, notes }).toEqual({ faults: [], notes: [`a.yaml: component alpha ${note}: left out`] })
})

it('leaves out what is for some applications where it does not know for which one it runs', () => {
  const text = component('alpha', { more: 'scopes: [shop]' })
  const { components, notes } = load({ 'a.yaml': text }, undefined, {}, {}, '')
  expect(components.size).toBe(0)
  expect(notes).toEqual([
    'a.yaml: component alpha is for shop, and there is no application id (give --app-id NAME): left out',
  ])
})

it('points at the name of an unknown field, and for a missing field at the list of the fields', () => {
  const misspelled = component('alpha').replace('topicEndpoint', 'topicEndpint')
  expect(load({ 'a.yaml': misspelled }).faults.join().split('\n')).toEqual([
    'a.yaml:8:3: topicEndpoint is required on the output side; is "topicEndpint" meant for it?',
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
  const alpha = component('alpha', { accessKey })
  const withKey = (value: string) =>
    load({ 'a.yaml': component('alpha', { accessKey: `{ value: ${value} }` }) }).components.get('alpha')?.fingerprint
  const keyOf = ({ components }: Loaded) => components.get('alpha')?.fingerprint

  it('stay what they were while their file is broken, though another one is there', () => {
    const folder = openFolder()
    const [one, two] = [folder.store('one', 'key-1'), folder.store('two', 'key-2')]
    const before = load({ 'a.yaml': alpha, 'b.yaml': one })
    const both = load({ 'a.yaml': alpha, 'b.yaml': one, 'c.yaml': two }, before)
    const broken = load({ 'a.yaml': alpha, 'b.yaml': 'kind: [', 'c.yaml': two }, both)
    const unread = load({ 'a.yaml': alpha, 'b.yaml': new Error('EACCES'), 'c.yaml': two }, broken)
    expect([before, both, broken, unread].map(keyOf)).toEqual(Array(4).fill(withKey('key-1')))
    const moved = component('alpha', { accessKey, more: '    - { name: route, value: /elsewhere }' })
    const after = load({ 'a.yaml': moved, 'b.yaml': 'kind: [' }, before)
    expect(after.components.get('alpha')?.component.properties).toHaveProperty('route')
  })

  it('that can no longer be read take away no component, though all else of its file is right', () => {
    const folder = openFolder()
    const texts = { 'a.yaml': `${alpha}---${component('beta')}` }
    const before = load({ ...texts, 'b.yaml': folder.store('one', 'key-1') })
    const after = load({ ...texts, 'b.yaml': folder.store('one', 'key-1', { file: 'gone' }) }, before)
    expect(after.faults).toEqual([
      expect.stringMatching(/^b\.yaml:4:19: secret store one: \S+gone\.json can't be read: ENOENT/),
    ])
    expect(keyOf(after)).toBe(withKey('key-1'))
  })

  it('come after the secrets that are given, and an empty name means none of them', () => {
    const folder = openFolder()
    const unnamed = component('alpha', { accessKey, more: 'auth: { secretStore: "" }' })
    const files = { 'a.yaml': unnamed, 'b.yaml': folder.store('one', 'key-1') }
    expect(keyOf(load(files))).toBe(withKey('key-1'))
    expect(keyOf(load(files, undefined, {}, { 'event-grid': 'given' }))).toBe(withKey('given'))
  })

  it('that are not known, since a file is broken, are not guessed', () => {
    const folder = openFolder()
    const named = component('alpha', { accessKey, more: 'auth: { secretStore: one }' })
    for (const text of [alpha, named]) {
      const files = { 'a.yaml': text, 'b.yaml': 'kind: [', 'c.yaml': folder.store('two', 'key-2') }
      const { faults, components } = load(files)
      expect(faults).toEqual([
        expect.stringMatching(/^a\.yaml:10:41: accessKey is a secretKeyRef .*mend b\.yaml first/),
        expect.stringMatching(/^b\.yaml:1:\d+: is not valid YAML/),
      ])
      expect(components.size).toBe(0)
    }
  })

  it('are not replaced by a copy, whichever file stands first', () => {
    const folder = openFolder()
    const before = load({ 'a.yaml': alpha, 'm.yaml': folder.store('one', 'key-1') })
    for (const file of ['b.yaml', 'z.yaml']) {
      const files = { [file]: folder.store('one', 'key-2'), 'm.yaml': folder.store('one', 'key-1') }
      const after = load(Object.fromEntries(Object.entries({ 'a.yaml': alpha, ...files }).sort()), before)
      expect(after.faults).toEqual([`${file}:4:19: secret store "one" is defined in m.yaml too, which is used`])
      expect(keyOf(after)).toBe(withKey('key-1'))
    }
  })

  it('of other applications are none', () => {
    const folder = openFolder()
    const other = folder.store('other', 'key-2', { more: 'scopes: [billing]' })
    expect(keyOf(load({ 'a.yaml': alpha, 'b.yaml': folder.store('one', 'key-1'), 'c.yaml': other }))).toBe(
      withKey('key-1'),
    )
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
    { name: 'one that it does not name', more: '', files: { 'z.yaml': store } },
    { name: 'the one that it names', more: 'auth: { secretStore: local }', files: { 'z.yaml': store } },
  ])('is told where to go where there is $name', ({ more, files }) => {
    const { faults } = load({ 'a.yaml': component('alpha', { accessKey, more }), ...files })
    expect(faults).toEqual([expect.stringContaining(`as text; ${advice}`)])
  })

  it('is not taken from another store than its component names, nor from one of several where it names none', () => {
    const { path } = makeComponentFolder()
    const store = (name: string, value: string, fields: Readonly<Record<string, unknown>> = {}) => {
      writeFileSync(`${path}/${name}.json`, JSON.stringify({ 'event-grid': { accessKey: value } }))
      return secretStore(localFile, { secretsFile: `${path}/${name}.json`, ...fields }, { name })
    }
    const stores = { 'x.yaml': store('right', key, { multiValued: true }), 'y.yaml': store('wrong', 'another') }
    const named = (name: string) => component('alpha', { accessKey, more: `auth: { secretStore: ${name} }` })
    const inline = load({ 'a.yaml': component('alpha') }).components.get('alpha')
    const { components, notes } = load({ 'a.yaml': named('right'), ...stores })
    expect(components.get('alpha')?.fingerprint).toBe(inline?.fingerprint)
    expect(notes).toEqual([expect.stringMatching(/^secret store wrong: daprd .* multiValued: "true"$/)])
    expect(load({ 'a.yaml': named('gone'), ...stores }).faults).toEqual([
      expect.stringContaining(`there is no secret store "gone"; ${advice}`),
    ])
    expect(load({ 'a.yaml': component('alpha', { accessKey }), ...stores }).faults).toEqual([
      expect.stringContaining('names none of the secret stores: write auth: { secretStore: right }'),
    ])
  })

  it('is not reported where a store could not be read, and all else is', () => {
    const { faults, components } = load({
      'a.yaml': component('alpha', { accessKey }),
      'b.yaml': component('beta', { accessKey }).replace('https', 'ftp'),
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
    'a.yaml': component('alpha', { accessKey: '{ secretKeyRef: { name: topic, key: topic } }' }),
    'z.yaml': secretStore(store, { [field]: `${path}/secrets.json`, prefix: 'SHOP_' }),
  }
  const loaded = load(files, undefined, env)
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
  const text = component('alpha', { accessKey: `{ secretKeyRef: { name: ${name} } }` })
  expect(load({ 'a.yaml': text, 'b.yaml': store }, undefined, { [name]: 'x' }).faults).toHaveLength(faults)
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
