import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { placeInWords } from '../../../src/core/component.ts'
import { Secret } from '../../../src/core/secret.ts'
import { readDefinition } from '../../../src/metadata/component/component-definition.ts'
import { parseComponents } from '../../../src/metadata/load/load-components.ts'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { place } from '../../support/place.ts'
import { thrownBy } from '../../support/thrown.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/components/${name}.yaml`, import.meta.url), 'utf8')

const parseFixture = (name: string, options = {}) =>
  parseComponents(fixture(name), { file: `${name}.yaml`, ...options })
const faultsOf = (text: string, options = {}) =>
  thrownBy(() => parseComponents(text, { file: 'f.yaml', ...options })).issues

/** A valid component that only publishes, with entries before its own. */
const component = (...entries: string[]) =>
  [
    'apiVersion: dapr.io/v1alpha1',
    'kind: Component',
    'metadata: { name: orders }',
    'spec:',
    '  type: bindings.cloud.eventrouter',
    '  metadata:',
    ...[...entries, ...output].map((entry) => `  - { ${entry} }`),
  ].join('\n')
const output = [
  ...['name: direction, value: output', 'name: topicEndpoint, value: "https://orders.example/api/events"'],
  'name: accessKey, value: MARKED',
]

const textOf = (value: unknown) => (value instanceof Secret ? value.reveal() : value)
const firstValue = (entry: string, options = {}) =>
  textOf(Object.values(parseComponents(component(entry), options)[0]?.properties ?? {})[0])

const secrets = { azure: { clientSecret: 'MARKED-client' }, accessKey: 'MARKED-key' }
const env = { TOPIC_ENDPOINT: 'https://orders.example/api/events?code=MARKED' }

describe('parseComponents', () => {
  it('leaves other keys of Dapr and Kubernetes alone', () => {
    const more = 'metadata: { name: orders, namespace: shop, labels: { a: b }, annotations: {}, uid: x }'
    const text = component().replace('metadata: { name: orders }', more)
    expect(parseComponents(`${text}\nscopes: [shop]\nauth: { secretStore: vault }\nstatus: {}`)).toHaveLength(1)
  })

  it('shows no secret when a component is printed', () => {
    const plain = ['name: clientSecret, value: MARKED', 'name: clientSecrt, value: MARKED']
    const text = component(...plain, 'name: labels, secretKeyRef: { name: accessKey }')
    const components = [...parseFixture('both-sides', { secrets, env }), ...parseComponents(text, { secrets })]
    const printed = `${inspect(components, { depth: null, showHidden: true })}${JSON.stringify(components)}`
    expect(printed).toContain('contoso.example')
    expect(printed).not.toContain('MARKED')
  })

  it.each(['shop', '[1]', '{ shop: }'])(
    'refuses scopes: %s, for a component for one application would be one for all',
    (scopes) => {
      expect(faultsOf(`${component()}\nscopes: ${scopes}`)).toMatchObject([
        { at: place('f.yaml:10:9'), field: 'scopes', rule: 'must be a list of application ids' },
      ])
    },
  )

  it.each([
    { reference: '{ name: event-grid, key: clientSecret }', shape: '{ "event-grid": { "clientSecret": "…" } }' },
    { reference: '{ name: token }', shape: '{ "token": "…" }' },
  ])('says where the secret of $reference goes', ({ reference, shape }) => {
    const [issue] = faultsOf(component(`name: clientSecret, secretKeyRef: ${reference}`))
    expect(issue?.fix).toBe(`give the option secrets, such as ${shape}; or correct the reference`)
  })

  it('reports the first syntax error only, and the faults of the documents before it', () => {
    const issues = faultsOf('kind: 5\n---\na: [1\nb: "x\n c: }\n---\n}{\n: :')
    expect(issues.map(({ at, rule }) => `${at && placeInWords(at)} ${rule}`)).toEqual([
      'f.yaml:1:7 must be a string',
      expect.stringMatching(/^f\.yaml:[3-5]:\d+ is not valid YAML here/),
    ])
  })

  it('gives the places of values as data, which a copy keeps', () => {
    const [orders] = parseComponents(component('name: scope, value: 5'), { file: 'f.yaml' })
    expect(orders?.places).toMatchObject({
      ...{ name: place('f.yaml:3:19'), type: place('f.yaml:5:9'), version: place('f.yaml:5:3') },
      properties: { scope: place('f.yaml:7:27') },
    })
    const { properties } = readDefinition(structuredClone({ ...orders, properties: { scope: '5' } }))
    expect(thrownBy(() => parseMetadata(properties)).issues).toContainEqual(
      expect.objectContaining({ field: 'scope', at: place('f.yaml:7:27') }),
    )
  })

  it.each(['', '# nothing\n', '---\n'])('finds no component in %j', (text) => expect(parseComponents(text)).toEqual([]))

  it('reports a number with the place where it stands', () => {
    const { issues } = thrownBy(() => parseFixture('unquoted-port'))
    expect(issues.find(({ field }) => field === 'handshakePort')).toEqual({
      field: 'handshakePort',
      value: '9000',
      rule: 'must be a string',
      fix: 'put it in quotes: handshakePort: "9000"',
      at: place('unquoted-port.yaml:10:14'),
    })
  })

  it('reports every fault of a file together, each with line and column, and no secret', () => {
    const error = thrownBy(() => parseFixture('many-faults', { secrets, env: {} }))
    const places = error.issues.map(({ at, field }) => [`${at?.line}:${at?.column}`, field])
    expect(places).toEqual([
      ['1:13', 'apiVersion'],
      ['4:3', 'metadata.name'],
      ['6:12', 'spec.version'],
      ['8:3', undefined],
      ['9:3', 'subscriptionId'],
      ['9:3', 'subscriberEndpoint'],
      ['9:3', 'direction'],
      ['12:13', 'scope'],
      ['14:7', 'spec.metadata[2]'],
      ['16:14', 'accessKey'],
      ['19:21', 'clientSecret'],
      ['21:15', 'topicEndpoint'],
      ['23:14', 'labels'],
      ['25:14', 'deliveryToken'],
      ['26:13', 'clientId'],
      ['29:15', 'tenantId'],
      ['31:14', undefined],
    ])
    expect(error.message).toContain('many-faults.yaml:19:21: clientSecret is a secretKeyRef to "nowhere"')
    expect(inspect(error, { depth: null })).not.toContain('MARKED')
  })

  it.each([
    ['a tab as indentation', 'a:\n\t- b', 'f.yaml:2:1', 'not valid YAML'],
    ['a bracket that is not closed', '{kind: Component', 'f.yaml:1:17', 'missing'],
    ['an alias without an anchor', 'kind: *nope', 'f.yaml:1:', 'alias without an anchor'],
    ['an anchor bomb', fixture('anchor-bomb'), 'f.yaml:2:8', 'aliases that expand to too much'],
    ['deep nesting', '['.repeat(50_000), 'f.yaml:1:', 'nested too deep'],
    ['too long a text', '#'.repeat(262_145), 'f.yaml:1:1', '262144'],
    ['too many documents', '---\n'.repeat(1001), 'f.yaml:1001:1', '1000 documents'],
    ['a document that is no mapping', '- a', 'f.yaml:1:1', 'must be a mapping'],
    ['no kind', 'apiVersion: dapr.io/v1alpha1', 'f.yaml:1:1', 'must be a string'],
    [
      'another letter case of the kind',
      component().replace('Component', 'component'),
      'f.yaml:2:7',
      'must be Component',
    ],
    ['another apiVersion', component().replace('v1alpha1', 'v1'), 'f.yaml:1:13', '/v1alpha1'],
    ['no name', component().replace('{ name: orders }', '{}'), 'f.yaml:3:11', '1 to 256'],
    ['no type', component().replace('type:', 'sort:'), 'f.yaml:5:3', '1 to 256'],
    [
      'metadata that is no list',
      `${component().split('\n').slice(0, 6).join('\n')} { scope: x }`,
      'f.yaml:6:13',
      'must be a list',
    ],
    ['a name of two components', `${component()}\n---\n${component()}`, 'f.yaml:13:19', 'is defined at'],
  ])('refuses %s', (_name, text, at, rule) => {
    const issue = faultsOf(text).find((one) => one.rule.includes(rule))
    expect(issue?.rule).toContain(rule)
    expect(issue?.at && placeInWords(issue.at)).toContain(at)
    expect(JSON.stringify(issue)).not.toContain('MARKED')
  })

  it('refuses the bytes of a file with a TypeError', () => {
    expect(() => Reflect.apply(parseComponents, undefined, [Buffer.from(component())])).toThrow('must be a text')
  })

  it('names the text where no file is given', () => {
    expect(thrownBy(() => parseComponents('[')).issues[0]?.at).toMatchObject({ file: '<text>', line: 1 })
  })
})

describe('references', () => {
  it.each([
    { reference: '{ name: a }', secrets: { a: 's' } },
    { reference: '{ name: a, key: a }', secrets: { a: 's' } },
    { reference: '{ name: a, key: b }', secrets: { a: { b: 's' } } },
    { reference: '{ name: a, key: "b:c" }', secrets: { a: { b: { c: 's' } } } },
    { reference: '{ name: "a:b" }', secrets: { a: { b: 's' } } },
    { reference: '{ name: "a:b", key: "a:b" }', secrets: { 'a:b': 's' } },
    { reference: '{ name: "a:b", key: c }', secrets: { a: { b: { c: new Secret('s') } } } },
  ])('resolve secretKeyRef $reference', ({ reference, secrets }) => {
    expect(firstValue(`name: clientSecret, secretKeyRef: ${reference}`, { secrets })).toBe('s')
  })

  it.each([
    { reference: '{ name: a, key: b }', secrets: { a: 's' } },
    { reference: '{ name: a }', secrets: { a: { b: 's' } } },
    { reference: '{ name: constructor }', secrets: {} },
    { reference: '{ name: __proto__, key: toString }', secrets: {} },
    { reference: '{ key: a }', secrets: { a: 's' } },
    { reference: 'a', secrets: { a: 's' } },
  ])('do not resolve secretKeyRef $reference', ({ reference, secrets }) => {
    const issues = faultsOf(component(`name: clientSecret, secretKeyRef: ${reference}`), { secrets })
    expect(issues).toMatchObject([{ field: 'clientSecret', at: { file: 'f.yaml', line: 7 } }])
  })

  it('take envRef from the environment given', () => {
    expect(firstValue('name: handshakePort, envRef: PORT', { env: { PORT: '9000' } })).toBe('9000')
  })

  it('take envRef from the environment of the process where none is given', () => {
    vi.stubEnv('EVENTGRID_BINDING_TEST_PORT', '9001')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(firstValue('name: handshakePort, envRef: EVENTGRID_BINDING_TEST_PORT')).toBe('9001')
  })

  it.each(['toString', 'NOT_SET'])('do not resolve envRef %s', (name) => {
    const issues = faultsOf(component(`name: handshakePort, envRef: ${name}`), { env: {} })
    expect(issues[0]?.rule).toContain(`envRef to "${name}"`)
  })

  it('count an entry without a value as empty', () => {
    expect(firstValue('name: labels')).toBe('')
  })
})
