import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Binding, type Component, loadComponents, parseComponents, Secret } from '../../../src/index.ts'
import { captureLog } from '../../support/captured-log.ts'
import { refusal } from '../../support/refusal.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const caseOf = (name: string) => readFileSync(resolve(import.meta.dirname, '../../fixtures/components', name), 'utf8')

interface Parts {
  readonly type?: string
  readonly store?: string
  readonly scopes?: string
  readonly fields?: Readonly<Record<string, string>>
}

/** A component that publishes, whose key is the secret `event-grid`, `accessKey`. */
const yaml = (name: string, { type = 'bindings.azure.eventgrid', store, scopes, fields = {} }: Parts = {}) =>
  [
    ...['apiVersion: dapr.io/v1alpha1', 'kind: Component', `metadata: { name: ${name} }`, 'spec:', `  type: ${type}`],
    ...['  metadata:', `    - { name: topicEndpoint, value: "https://${name}.example/api/events" }`],
    '    - { name: accessKey, secretKeyRef: { name: event-grid, key: accessKey } }',
    ...Object.entries(fields).map(([field, value]) => `    - { name: ${field}, value: ${JSON.stringify(value)} }`),
    ...(store === undefined ? [] : [`auth: { secretStore: ${store} }`]),
    ...(scopes === undefined ? [] : [`scopes: [${scopes}]`]),
    '',
  ].join('\n')

const input = {
  ...{ tenantId: '22222222-2222-4222-8222-222222222222', clientId: 'c', clientSecret: 's', handshakePort: '9000' },
  subscriptionId: '33333333-3333-4333-8333-333333333333',
  subscriberEndpoint: 'https://orders.example.com/api/events',
  scope: '/subscriptions/33333333-3333-4333-8333-333333333333',
}
const pull = {
  ...{ deliveryMode: 'pull', namespaceKey: 'k', namespaceEndpoint: 'https://ns.example.com' },
  namespaceTopic:
    '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/ns/topics/t',
}

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = temporaryFolder()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

const textOf = (value: unknown) => (value instanceof Secret ? value.reveal() : value)
const keysOf = (components: readonly Component[]) =>
  Object.fromEntries(components.map(({ name, properties }) => [name, textOf(properties.accessKey)]))

const secrets = { 'event-grid': { accessKey: 'key' } }
const both = { stores: { 'vault-north': { 'event-grid': { accessKey: 'n' } }, 'vault-south': secrets } }
const asked = ({ store, name, key }: { store: string | undefined; name: string; key: string }) =>
  `${store}/${name}/${key}`

/** Both doors: of a file, and of its text. */
const doors = [
  {
    door: 'loadComponents',
    read: async (text: string, options = {}) => loadComponents(join(folderOf({ 'a.yaml': text }), 'a.yaml'), options),
  },
  { door: 'parseComponents', read: async (text: string, options = {}) => parseComponents(text, options) },
]

describe.each(doors)('$door', ({ read }) => {
  it.each([
    { name: 'one name', text: yaml('orders'), secrets, keys: { orders: 'key' } },
    { name: 'one store that all name', text: yaml('orders', { store: 'a' }), secrets, keys: { orders: 'key' } },
    { name: 'two stores', text: caseOf('two-stores.yaml'), secrets: both, keys: { north: 'n', south: 'key' } },
    {
      name: 'a function',
      text: `${caseOf('two-stores.yaml')}---\n${yaml('orders')}`,
      secrets: asked,
      keys: {
        north: 'vault-north/event-grid/accessKey',
        south: 'vault-south/event-grid/accessKey',
        orders: 'undefined/event-grid/accessKey',
      },
    },
    {
      name: 'a secret called stores',
      text: yaml('orders').replace('name: event-grid, key: accessKey', 'name: stores, key: a'),
      secrets: { stores: { a: 'key' } },
      keys: { orders: 'key' },
    },
  ])('resolves the secrets of $name', async ({ text, keys, secrets }) => {
    expect(keysOf(await read(text, { secrets }))).toEqual(keys)
  })

  it.each([
    {
      name: 'a record without stores',
      secrets,
      says: /give the secrets by store, such as \{ "stores": \{ "vault-north"/,
    },
    { name: 'nothing', secrets: {}, says: /such as \{ "stores": \{ "vault-north": \{ "event-grid"/ },
    { name: 'a function that has none', secrets: () => undefined, says: /into the secret store "vault-north"/ },
    {
      name: 'other stores',
      secrets: { stores: { vault: secrets } },
      says: /there is no secret store "vault-south"; .*\{ "stores": \{ "vault-south"/,
    },
  ])('gives to no component the secret of another store: $name', async ({ says, secrets }) => {
    const { message, issues } = await refusal(read(caseOf('two-stores.yaml'), { secrets }))
    expect(message).toMatch(says)
    expect(issues.map(({ kind, field, at }) => [kind, field, at?.line])).toEqual([
      ['unresolvedReference', 'accessKey', 12],
      ['unresolvedReference', 'accessKey', 24],
    ])
    expect(message).not.toContain('"key"')
  })

  it('leaves out the component of another vendor before its references are resolved, and takes it where it is told to', async () => {
    const references: string[] = []
    const options = { secrets: (one: Parameters<typeof asked>[0]) => void references.push(asked(one)) }
    const text = caseOf('other-vendor.yaml')
    expect((await read(text, options)).map(({ name }) => name)).toEqual(['orders'])
    expect(references).toEqual([])
    const types = ['Bindings.Kafka']
    const lake = { name: 'lake', type: 'bindings.kafka', version: 'v2', secretStore: 'their-own-vault' }
    const taken = await read(text, { types, secrets: { kafka: { password: 'p' } } })
    expect(taken).toMatchObject([{ ...lake, sides: ['input', 'output'] }])
    const { issues } = await refusal(read(text, { types, secrets: {} }))
    expect(issues).toMatchObject([{ field: 'saslPassword', kind: 'unresolvedReference' }])
  })

  it.each<[name: string, parts: Parts, known: object]>([
    ['output', {}, { version: 'v1', sides: ['output'] }],
    ['push', { fields: input }, { sides: ['input', 'output'], port: 9000 }],
    ['a free port', { fields: { ...input, handshakePort: '0' } }, { port: 0 }],
    ['pull', { fields: pull }, { sides: ['input', 'output'], port: undefined }],
    ['one side of two', { fields: { ...input, direction: 'output' } }, { sides: ['output'], port: undefined }],
    ['store and scopes', { store: 'a', scopes: 'x, y' }, { secretStore: 'a', scopes: ['x', 'y'] }],
    ['direction of another type', { type: 'bindings.kafka', fields: { direction: 'input' } }, { sides: ['input'] }],
  ])('tells before init of %s', async (_name, parts, known) => {
    const types = ['bindings.azure.eventgrid', 'bindings.kafka']
    const [orders] = await read(yaml('orders', parts), { secrets, types })
    expect({ port: undefined, ...orders }).toMatchObject(known)
  })

  it.each([
    { appId: 'shop', names: ['alpha', 'beta'] },
    { appId: 'billing', names: ['alpha', 'gamma'] },
    { appId: undefined, names: ['alpha', 'beta', 'gamma'] },
  ])('takes what is for the application $appId', async ({ appId, names }) => {
    const text = [yaml('alpha'), yaml('beta', { scopes: 'x,shop' }), yaml('gamma', { scopes: 'billing' })].join('---\n')
    expect((await read(text, { secrets, appId })).map(({ name }) => name)).toEqual(names)
  })

  it('fills in what daprd fills in', async () => {
    const fields = { route: '/{appID}/{podName}', subjectBeginsWith: '{namespace}' }
    const text = yaml('orders', { fields: { ...input, ...fields } })
    const options = { secrets, appId: 'shop', env: { POD_NAME: 'shop-0', NAMESPACE: 'prod' } }
    const [orders] = await read(text, options)
    const { route, subjectBeginsWith } = orders?.properties ?? {}
    expect([textOf(route), subjectBeginsWith]).toEqual(['/shop/shop-0', 'prod.shop'])
    const [test] = await read(text, { ...options, namespace: 'test' })
    expect(test?.properties.subjectBeginsWith).toBe('test.shop')
    const { issues } = await refusal(read(text, { secrets, env: { POD_NAME: 'x' } }))
    expect(issues).toMatchObject([
      { field: 'route', fix: 'give the option appId' },
      { field: 'subjectBeginsWith', fix: 'give the option appId' },
    ])
  })

  it('asks for no field that a credential of the host replaces, but with another fault for all that is missing', async () => {
    const { tenantId, clientId, clientSecret, ...rest } = input
    const fields = { ...rest, deliveryToken: '0123456789abcdef' }
    expect(await read(yaml('orders', { fields }), { secrets })).toMatchObject([{ port: 9000 }])
    const text = yaml('orders', { fields: { ...fields, handshakePort: 'x' } })
    const { issues } = await refusal(read(text, { secrets }))
    const names = ['tenantId', 'clientId', 'clientSecret', 'direction', 'handshakePort']
    expect(issues.map(({ field }) => field)).toEqual(names)
  })

  it.each([
    { options: { secrets: () => 5 }, says: 'must give a text or undefined' },
    { options: { secrets: '/etc/MARKED' }, says: 'secrets must be an object or a function' },
    { options: { logger: {} }, says: 'logger must be an object with a method debug' },
    { options: { types: 'bindings.kafka' }, says: 'types must be a list of texts' },
    { options: { appID: 'shop' }, says: 'there is no "appID"' },
    { options: { appId: 5 }, says: 'appId must be a text' },
  ])('refuses options that cannot be right: $says', async ({ options, says }) => {
    const refused = read(yaml('orders'), options)
    await expect(refused).rejects.toThrow(TypeError)
    await expect(refused).rejects.toThrow(says)
    await expect(refused).rejects.not.toThrow('MARKED')
  })

  it('asks the function secrets once for each reference', async () => {
    const secrets = vi.fn(() => 'key')
    await read(`${yaml('alpha')}---\n${yaml('beta')}`, { secrets })
    expect(secrets).toHaveBeenCalledOnce()
  })

  it.each([
    { store: 'vault-a', says: 'put it into the secret store "vault-a", which that function was asked for' },
    { store: undefined, says: 'the component names no secret store' },
  ])('names the store of a secret for which the function gave nothing: $store', async ({ store, says }) => {
    const text = yaml('orders', store === undefined ? {} : { store })
    for (const none of [() => undefined, () => null as unknown as undefined]) {
      const { issues } = await refusal(read(text, { secrets: none }))
      expect(issues.map(({ rule, fix, kind }) => [rule, fix, kind])).toEqual([
        [
          expect.stringMatching(/for which the function secrets gave nothing$/),
          `${says}; or correct the reference`,
          'unresolvedReference',
        ],
      ])
    }
  })

  it('passes on what the function secrets throws', async () => {
    const outage = new Error('the vault is away')
    const throwing = () => {
      throw outage
    }
    await expect(read(yaml('orders'), { secrets: throwing })).rejects.toBe(outage)
  })
})

it('gives no component the secret of another store, whatever is given, and in whatever form', async () => {
  const stores = ['north', 'south'] as const
  const store = fc.option(fc.constantFrom(...stores, 'unknown'), { nil: undefined })
  const form = fc.constantFrom('by name', 'by store', 'function')
  await fc.assert(
    fc.asyncProperty(
      fc.array(store, { minLength: 1, maxLength: 4 }),
      form,
      fc.subarray([...stores]),
      async (named, by, known) => {
        const own = (one: string | undefined) => (known.some((each) => each === one) ? `key of ${one}` : undefined)
        const held = Object.fromEntries(known.map((one) => [one, { 'event-grid': { accessKey: own(one) } }]))
        const [first] = known
        const given = {
          'by name': first ? held[first] : {},
          'by store': { stores: held },
          function: ({ store: asked }: { store: string | undefined }) => own(asked),
        }[by]
        const text = named.map((one, index) => yaml(`c${index}`, one === undefined ? {} : { store: one })).join('---\n')
        let taken: readonly Component[] = []
        try {
          taken = parseComponents(text, { secrets: given ?? {} })
        } catch (error) {
          expect(error).toMatchObject({ code: 'METADATA_INVALID' })
        }
        for (const { secretStore, properties } of taken) {
          const key = textOf(properties.accessKey)
          if (secretStore === undefined) expect(by).toBe('by name')
          else if (by === 'by name') expect(new Set(taken.flatMap((one) => one.secretStore ?? [])).size).toBe(1)
          else expect(key).toBe(own(secretStore))
        }
      },
    ),
  )
})

describe('loadComponents', () => {
  it('reads files and folders in their order, each file once, whatever its encoding, and asks for each secret once', async () => {
    const utf16 = Buffer.from(`\uFEFF${yaml('gamma')}`, 'utf16le')
    const folder = folderOf({ 'b.yaml': yaml('beta'), 'c.yml': utf16, '.hidden.yaml': 'kind: [', 'notes.txt': 'x' })
    mkdirSync(join(folder, 'deep'))
    const other = folderOf({ 'alpha.txt': yaml('alpha') })
    const references: string[] = []
    const paths = [`${folder}/./c.yml`, folder, join(other, 'alpha.txt')]
    const found = await loadComponents(paths, {
      async secrets(reference) {
        references.push(asked(reference))
        return 'key'
      },
    })
    expect(keysOf(found)).toEqual({ gamma: 'key', beta: 'key', alpha: 'key' })
    expect(found.map(({ name }) => name)).toEqual(['gamma', 'beta', 'alpha'])
    expect(references).toEqual(['undefined/event-grid/accessKey'])
    expect(inspect(found, { depth: null, showHidden: true })).not.toContain("'key'")
  })

  it('reports every fault of all files in one error, each with its kind', async () => {
    const store = 'apiVersion: dapr.io/v1alpha1\nkind: Component\nmetadata: { name: local }\n'
    const folder = folderOf({
      'a.yaml': yaml('alpha', { fields: { publishTimeout: 'x' } }),
      'b.yaml': `${yaml('beta')}---\n${yaml('beta')}`,
      'c.yaml': 'kind: [',
      'd.yaml': yaml('delta').replace('event-grid', 'gone'),
      'e.yaml': yaml('same'),
      'f.yaml': yaml('same'),
      'g.yaml': Buffer.from([0xff]),
      's.yaml': `${store}spec: { type: secretstores.local.file, metadata: [{ name: secretsFile, value: gone.json }] }`,
    })
    const { code, issues } = await refusal(loadComponents([folder, join(folder, 'gone')], { secrets }))
    const rows = issues.map(({ kind = 'brokenRule', at }) => `${kind} ${at?.file.slice(folder.length + 1)}:${at?.line}`)
    expect([code, ...rows]).toEqual([
      'METADATA_INVALID',
      'unreadable gone:1',
      'secretStore s.yaml:3',
      'brokenRule a.yaml:9',
      'doubledName b.yaml:12',
      'brokenRule c.yaml:1',
      'unresolvedReference d.yaml:8',
      'doubledName f.yaml:3',
      'unreadable g.yaml:1',
    ])
  })

  it('has those without a fault in details.components, and leaves out a faulty one that says ignoreErrors', async () => {
    const text = caseOf('ignore-errors.yaml')
    const log = captureLog()
    const file = join(folderOf({ 'a.yaml': text }), 'a.yaml')
    const [invoices, ...others] = await loadComponents(file, { logger: log })
    expect([invoices?.name, invoices?.ignoreErrors, others.length]).toEqual(['invoices', false, 0])
    expect(log.lines).toMatchObject([{ level: 'error', fields: { component: 'orders' } }])
    expect(log.lines[0]?.message).toMatch(/a\.yaml:10:15: "accesKey" is not a field/)

    const { details, issues } = await refusal(
      loadComponents(folderOf({ 'a.yaml': text.replace('  ignoreErrors: true\n', ''), 'b.yaml': 'kind: [' })),
    )
    expect(details).toMatchObject({ components: [{ name: 'invoices' }] })
    expect(issues.every(({ at }) => at !== undefined)).toBe(true)

    const beside = captureLog()
    await refusal(loadComponents(folderOf({ 'a.yaml': text, 'b.yaml': 'kind: [' }), { logger: beside }))
    expect(beside.lines).toMatchObject([{ level: 'error', fields: { component: 'orders' } }])
  })

  it('takes a component without a fault that says ignoreErrors', () => {
    const text = yaml('orders').replace('  metadata:', '  ignoreErrors: true\n  metadata:')
    expect(parseComponents(text, { secrets })).toMatchObject([{ name: 'orders', ignoreErrors: true }])
  })

  it.each(['"true"', '1', '[]'])('refuses ignoreErrors as %s', (value) => {
    const text = yaml('orders').replace('  metadata:', `  ignoreErrors: ${value}\n  metadata:`)
    expect(() => parseComponents(text, { secrets })).toThrow(/:6:\d+: spec\.ignoreErrors must be true or false/)
  })

  it('takes secrets of local stores among the files where the given ones have no answer', async () => {
    const folder = folderOf({ 'north.json': JSON.stringify({ 'event-grid': { accessKey: 'north' } }) })
    const store = yaml('vault-north', { type: 'secretstores.local.file' }).split('  metadata:')[0]
    writeFileSync(
      join(folder, 'store.yaml'),
      `${store}  metadata: [{ name: secretsFile, value: ${JSON.stringify(join(folder, 'north.json'))} }]`,
    )
    writeFileSync(join(folder, 'two.yaml'), caseOf('two-stores.yaml'))
    const stores = { 'vault-south': { 'event-grid': { accessKey: 'south' } } }
    const expected = { north: 'north', south: 'south' }
    expect(keysOf(await loadComponents(folder, { secrets: { stores } }))).toEqual(expected)
    const function_ = ({ store: named }: { store: string | undefined }) =>
      named === 'vault-south' ? 'south' : undefined
    expect(keysOf(await loadComponents(folder, { secrets: function_ }))).toEqual(expected)
  })

  it('gives what init takes, with the places of its values', async () => {
    const file = join(folderOf({ 'a.yaml': yaml('orders') }), 'a.yaml')
    const [orders] = await loadComponents(file, { secrets })
    await using binding = new Binding()
    await binding.init(orders)
    expect(binding.health().status).toBe('healthy')
    expect(orders?.places.properties.accessKey).toMatchObject({ file, line: 8 })
  })

  it('tells the logger of what it leaves out', async () => {
    const folder = folderOf({
      'a.yaml': yaml('alpha', { type: 'bindings.azure.eventgird' }),
      'b.yaml': caseOf('other-vendor.yaml'),
      'c.yaml': '',
      'd.yaml': yaml('delta', { scopes: 'billing' }),
      'e.yaml': yaml('epsilon', { type: 'bindings.azure.eventhubs' }),
      'f.yaml': 'kind: Componet\n---\nkind: Configuration',
      'g.yaml': '---\n# later',
    })
    const log = captureLog()
    await loadComponents([folder], { appId: 'shop', logger: log })
    expect(log.lines.map(({ level, message }) => `${level} ${message.slice(folder.length + 1)}`)).toEqual([
      'warn a.yaml:5:9: component "alpha" has the unknown type "bindings.azure.eventgird"; did you mean bindings.azure.eventgrid?',
      'warn c.yaml:1:1: holds no component: it is empty, or has comments only',
      'warn f.yaml:1:7: kind "Componet" is unknown; did you mean Component?',
      'warn g.yaml:1:1: holds no component: it is empty, or has comments only',
      'debug b.yaml: component lake is a bindings.kafka, which is not ours: left out',
      'debug d.yaml: component delta is for billing, not for shop: left out',
      'debug e.yaml: component epsilon is a bindings.azure.eventhubs, which is not ours: left out',
      'debug f.yaml:3:7: kind "Configuration" is left out',
    ])
  })

  it.each([
    {
      how: 'throws',
      warn: () => {
        throw new Error('the disk is full')
      },
    },
    { how: 'rejects', warn: () => Promise.reject(new Error('the disk is full')) },
  ])('reads all though the logger $how', async ({ warn }) => {
    const folder = folderOf({ 'a.yaml': '', 'b.yaml': caseOf('other-vendor.yaml') })
    const components = await loadComponents([folder], { logger: { ...captureLog(), warn } })
    expect(components.map(({ name }) => name)).toEqual(['orders'])
  })

  it('says what to do about a path that is not there, and nothing where that is not known', async () => {
    const folder = folderOf({})
    const issuesOf = async (path: string) => (await refusal(loadComponents(path))).issues
    const at = { file: join(folder, 'gone'), line: 1, column: 1 }
    const gone = {
      kind: 'unreadable',
      rule: expect.stringContaining('ENOENT'),
      fix: 'make it, or correct the path',
      at,
    }
    expect(await issuesOf(join(folder, 'gone'))).toEqual([gone])
    const [other] = (await issuesOf(`${folder}\0`)) ?? []
    expect(other).toMatchObject({ kind: 'unreadable' })
    expect(other).not.toHaveProperty('fix')
  })

  it.each([[], [5], [['a'], 'b']])('refuses paths that are none: %j', async (...paths) => {
    await expect(Reflect.apply(loadComponents, undefined, [paths])).rejects.toThrow(TypeError)
  })
})

it.each([async () => 'key', () => Promise.reject(new Error('the vault is away'))])(
  'says to whoever hands an asynchronous function to parseComponents what takes it: %s',
  async (secrets) => {
    const parse = () => Reflect.apply(parseComponents, undefined, [yaml('orders'), { secrets }])
    expect(parse).toThrow(TypeError)
    expect(parse).toThrow('loadComponents')
    // A rejection that nobody handles would end the process: the runner fails by it.
    await new Promise(setImmediate)
  },
)
