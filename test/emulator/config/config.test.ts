import { expect, it } from 'vitest'
import { EmulatorConfigError, type ParsedConfig, parseConfig } from '../../../src/emulator/config/config.ts'
import { emulatorDefaults } from '../../../src/emulator/index.ts'
import { createCertificateAuthority } from '../../../src/emulator/server/tls/certificates.ts'

const { certificate } = createCertificateAuthority()
const files: Readonly<Record<string, string>> = { 'ca.pem': certificate, 'letter.txt': 'Dear reader' }

function parse(text: string): ParsedConfig {
  return parseConfig(text, {
    file: 'e.yaml',
    now: Date.UTC(2026, 0, 5),
    readFile(path) {
      const content = files[path]
      if (content === undefined) throw new Error("can't be read: there is no such file")
      return content
    },
  })
}

/** What is said of a configuration, line by line. */
function faults(text: string): string[] {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof EmulatorConfigError) return error.message.split('\n')
    throw error
  }
  return []
}

const subscription = (settings: string) => `eventSubscriptions:\n  - name: audit\n${settings}`

it.each([
  [
    'syntax',
    'topics:\n  - name: "orders',
    'e.yaml:2:11: is not valid YAML here: the quote that closes this one is missing',
  ],
  ['a tab', 'topics:\n\t- name: orders', /^e\.yaml:2:1: is not valid YAML here: a tab/],
  ['a key that stands twice', 'port: 1\nport: 2', 'e.yaml:2:1: has the key "port" twice'],
  ['an alias of nothing', 'host: *nowhere', /^e\.yaml:1:7: .*an alias without an anchor/],
  ['a second document', 'port: 1\n---\nport: 2', 'e.yaml:2:1: must hold at most 1 document'],
  ['nothing', '# to be written\n', 'e.yaml:1:1: is empty'],
  ['a list', '- port: 1', 'e.yaml:1:1: must be a mapping'],
  ['a text', 'orders', 'e.yaml:1:1: must be a mapping'],
  ['an unknown field', 'port: 0\nTopic: []', 'e.yaml:2:1: Topic is not a field; did you mean topics?'],
  [
    'an unknown field deep inside',
    'topics:\n  - name: orders\n    inputSchemaMaping: {}',
    'e.yaml:3:5: topics[0].inputSchemaMaping is not a field; did you mean inputSchemaMapping?',
  ],
  [
    'a field like no other',
    'ingress:\n  - { from: "https://a/", to: "https://b/", colour: red }',
    'e.yaml:2:45: ingress[0].colour is not a field here; the fields are from, to',
  ],
  ['a key of every prototype', '__proto__: { port: 1 }', /^e\.yaml:1:1: __proto__ is not a field here/],
  ['another of them', 'constructor: 1', /^e\.yaml:1:1: constructor is not a field here/],
  [
    'one inside what goes to Resource Manager',
    subscription('    endpoint: https://a.example/\n    properties: { __proto__: { filter: 1 } }'),
    'e.yaml:4:19: eventSubscriptions[0].properties.__proto__ is not a field of Event Grid',
  ],
  ['a number for a text', 'tenantId: 12', 'e.yaml:1:11: tenantId must be a text: put it in quotes'],
  ['a text for a number', 'concurrency: many', 'e.yaml:1:14: concurrency must be a number'],
  ['a text for a switch', 'conflicts: "yes"', 'e.yaml:1:12: conflicts must be true or false'],
  ['a mapping for a list', 'topics: { name: orders }', 'e.yaml:1:9: topics must be a list'],
  ['a text for a mapping', 'topics: [orders]', 'e.yaml:1:10: topics[0] must be a mapping'],
  ['nothing for a list', 'topics:', /^e\.yaml:1:\d: topics must be a list/],
  ['a missing field', 'topics:\n  - location: here', 'e.yaml:2:5: topics[0].name is required'],
  ['an empty text', 'tenantId: ""', 'e.yaml:1:11: tenantId must not be empty'],
  ['a port out of range', 'port: 65536', 'e.yaml:1:7: port must be a port, 0 to 65535'],
  ['a negative port', 'httpPort: -1', 'e.yaml:1:11: httpPort must be a port, 0 to 65535'],
  ['half a port', 'port: 80.5', 'e.yaml:1:7: port must be a whole number'],
  ['a port in quotes', 'port: "4430"', 'e.yaml:1:7: port must be a number'],
  ['one port for both', 'port: 1\nhttpPort: 1', 'e.yaml:2:11: httpPort must be another port than port'],
  ['a time that is past', 'retrySchedule: [-1]', 'e.yaml:1:17: retrySchedule[0] must be 0 or more milliseconds'],
  ['no pause at all', 'retrySchedule: []', 'e.yaml:1:16: retrySchedule must hold one pause at least'],
  ['a topic name', 'topics: [{ name: my_topic }]', /^e\.yaml:1:18: topics\[0\]\.name must be 3 to 50/],
  ['one key', 'topics: [{ name: orders, keys: [abcd] }]', /^e\.yaml:1:32: topics\[0\]\.keys(\[1\])? /],
  [
    'a key that is no base64',
    'topics: [{ name: orders, keys: [abcd, "?"] }]',
    'e.yaml:1:39: topics[0].keys[1] must be base64',
  ],
  [
    'an unknown input schema',
    'topics: [{ name: orders, inputSchema: CloudEventSchema }]',
    /^e\.yaml:1:39: topics\[0\]\.inputSchema must be .*; did you mean CloudEventSchemaV1_0\?$/,
  ],
  ['a topic twice', 'topics:\n  - name: orders\n  - name: Orders', 'e.yaml:3:11: topics[1].name is given twice'],
  ['a client twice', 'clients:\n  - clientId: a\n  - clientId: a', 'e.yaml:3:15: clients[1].clientId is given twice'],
  [
    'an Azure subscription twice',
    'subscriptions:\n  - id: a\n  - id: A',
    'e.yaml:3:9: subscriptions[1].id is given twice',
  ],
  [
    'an event subscription twice',
    `${subscription('    endpoint: https://a.example/')}\n  - name: Audit\n    endpoint: https://a.example/`,
    'e.yaml:4:11: eventSubscriptions[1].name is given twice',
  ],
  [
    'an unknown Azure subscription',
    'subscriptions: [{ id: shop }]\ntopics: [{ name: orders, subscriptionId: shpo }]',
    'e.yaml:2:42: topics[0].subscriptionId must be one of subscriptions; did you mean shop?',
  ],
  [
    'an unknown topic',
    subscription('    topic: order\n    endpoint: https://a.example/'),
    'e.yaml:3:12: eventSubscriptions[0].topic must be one of topics; did you mean orders?',
  ],
  [
    'a topic and a scope',
    subscription(
      '    topic: orders\n    scope: /subscriptions/33333333-3333-4333-8333-333333333333\n    endpoint: https://a.example/',
    ),
    'e.yaml:4:12: eventSubscriptions[0].scope must not be given together with topic',
  ],
  [
    'neither, where there is no topic',
    `topics: []\n${subscription('    endpoint: https://a.example/')}`,
    'e.yaml:3:5: eventSubscriptions[0] needs a scope, as there is no topic',
  ],
  [
    'a scope without a slash',
    subscription('    scope: subscriptions/1\n    endpoint: https://a.example/'),
    'e.yaml:3:12: eventSubscriptions[0].scope must begin with a slash',
  ],
  [
    'a scope of no form',
    subscription('    scope: /topics/orders\n    endpoint: https://a.example/'),
    'e.yaml:3:12: eventSubscriptions[0].scope must be the id of a subscription, a resource group or a resource',
  ],
  [
    'a scope in another Azure subscription',
    subscription('    scope: /subscriptions/1/resourceGroups/rg\n    endpoint: https://a.example/'),
    /^e\.yaml:3:12: eventSubscriptions\[0\]\.scope names a subscription that is not there: 33333333-/,
  ],
  ['no endpoint', subscription(''), 'e.yaml:2:5: eventSubscriptions[0] needs an endpoint'],
  [
    'an endpoint without TLS',
    subscription('    endpoint: http://a.example/'),
    'e.yaml:3:15: eventSubscriptions[0].endpoint must be an https URL',
  ],
  [
    'a field that Resource Manager would leave out',
    subscription('    endpoint: https://a.example/\n    properties: { filter: { subjectBeginWith: a } }'),
    'e.yaml:4:29: eventSubscriptions[0].properties.filter.subjectBeginWith is not a field of Event Grid; did you mean subjectBeginsWith?',
  ],
  [
    'an unknown filter operator',
    subscription(
      '    endpoint: https://a.example/\n    properties:\n      filter:\n        advancedFilters:\n' +
        '          - operatorType: StringIs\n            key: a\n            values: [b]',
    ),
    /^e\.yaml:7:27: .*advancedFilters\[0\]\.operatorType is refused by Event Grid: .*operatorType' is invalid/,
  ],
  [
    'a delivery schema that the domain of a scope cannot have',
    [
      'domains: [{ name: shop }]',
      'eventSubscriptions:',
      '  - name: lamps',
      `    scope: /subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg` +
        '/providers/Microsoft.EventGrid/domains/shop/topics/lamps',
      '    endpoint: https://a.example/',
      '    properties: { eventDeliverySchema: EventGridSchema }',
    ].join('\n'),
    /^e\.yaml:3:5: eventSubscriptions\[0\] is refused by Event Grid: .*EventGridSchema is not supported/,
  ],
  [
    'two system topics of one source',
    'systemTopics: [{ name: one, source: /a }, { name: two, source: /A }]',
    'e.yaml:1:64: systemTopics[1].source is given twice',
  ],
  [
    'too many tries',
    subscription('    endpoint: https://a.example/\n    properties: { retryPolicy: { maxDeliveryAttempts: 31 } }'),
    /^e\.yaml:(4:\d+|2:5): eventSubscriptions\[0\].* is refused by Event Grid: /,
  ],
  [
    'a name that Event Grid refuses',
    'eventSubscriptions:\n  - name: a!\n    endpoint: https://a.example/',
    /^e\.yaml:2:5: eventSubscriptions\[0\] is refused by Event Grid: /,
  ],
  [
    'an unknown role',
    'clients:\n  - roles: [EventGrid Data Sendr]',
    /^e\.yaml:2:13: clients\[0\]\.roles\[0\]\.role must be a role .*; did you mean EventGrid Data Sender\?$/,
  ],
  [
    'no URL to send to',
    'ingress: [{ from: "https://a.example/", to: "localhost" }]',
    'e.yaml:1:45: ingress[0].to must be a URL',
  ],
  [
    'a certificate that is not there',
    'trustedCertificates: [none.pem]',
    "e.yaml:1:23: trustedCertificates[0] (none.pem) can't be read: there is no such file",
  ],
  [
    'a certificate that is none',
    'trustedCertificates: [ca.pem, letter.txt]',
    'e.yaml:1:31: trustedCertificates[1] (letter.txt) holds no PEM certificate',
  ],
])('refuses %s, and names the place', (_name, text, fault) => {
  const said = faults(text)
  expect(said).toHaveLength(1)
  if (typeof fault === 'string') expect(said[0]).toBe(fault)
  else expect(said[0]).toMatch(fault)
})

it('takes any delivery schema of Azure for the events of another resource, whatever the topics take', () => {
  const text = [
    'topics: [{ name: orders, inputSchema: CloudEventSchemaV1_0 }]',
    'eventSubscriptions:',
    '  - name: uploads',
    `    scope: /subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a`,
    '    endpoint: https://a.example/',
    '    properties: { eventDeliverySchema: EventGridSchema }',
  ]
  expect(faults(text.join('\n'))).toEqual([])
})

it('names every fault at once', () => {
  expect(
    faults('port: no\nhots: a\ntopics:\n  - name: orders\n  - name: orders').map((line) => line.slice(0, 12)),
  ).toEqual(['e.yaml:1:7: ', 'e.yaml:2:1: ', 'e.yaml:5:11:'])
})

it('names thirty faults of a thousand', () => {
  expect(faults(`topics:\n${'  - nme: orders\n'.repeat(1000)}`)).toHaveLength(30)
})

it('refuses an anchor bomb, and names its first alias', () => {
  const levels = [...'bcdefghi'].map((name, index) => {
    const before = 'abcdefgh'[index]
    return `${name}: &${name} [${Array(10).fill(`*${before}`).join(', ')}]`
  })
  expect(faults(['a: &a [x, x, x, x]', ...levels].join('\n'))).toEqual([
    expect.stringMatching(/^e\.yaml:2:8: .*aliases that expand to too much/),
  ])
})

it.each([
  { name: 'brackets', text: `topics: ${'['.repeat(20_000)}${']'.repeat(20_000)}` },
  { name: 'dashes', text: '- '.repeat(20_000) },
])('refuses $name that are nested too deeply', ({ text }) => {
  expect(faults(text)).toEqual([expect.stringMatching(/^e\.yaml:1:\d+: is nested too deep$/)])
})

it('refuses a text of more than a mebibyte', () => {
  expect(faults(`#${' '.repeat(1_048_576)}`)).toEqual(['e.yaml:1:1: must be at most 1048576 characters long'])
})

it('never repeats a connection string', () => {
  const [line = ''] = faults('deadLetterConnectionString: AccountNme=a;Key=s3cret')
  expect(line).toMatch(/^e\.yaml:1:29: deadLetterConnectionString must be a connection string/)
  expect(line).not.toContain('s3cret')
})

it('takes anchors, and a role by its name alone', () => {
  const { options } = parse(`
topics: [{ name: &name orders }]
eventSubscriptions: [{ name: audit, topic: *name, endpoint: 'https://a.example/' }]
clients: [{ roles: [Contributor, { role: Reader, scope: /subscriptions/1 }] }]
trustedCertificates: [ca.pem]
deadLetterConnectionString: UseDevelopmentStorage=true
`)
  expect(options.eventSubscriptions?.[0]?.topic).toBe('orders')
  expect(options.clients).toEqual([{ roles: [{ role: 'Contributor' }, { role: 'Reader', scope: '/subscriptions/1' }] }])
  expect(options.trustedCertificates).toEqual([certificate])
  expect(options.deadLetterStore).toBeDefined()
})

it('draws the line of each problem with a caret, and masks secrets', () => {
  const text =
    'clients:\n  - { clientSecret: MARKED, colour: red }\ndeadLetterConnectionString: MARKED;x\nport: a # MARKED\n'
  const parse = () => parseConfig(text, { file: 'e.yaml', now: 0, readFile: String, excerptWidth: 80 })
  expect(parse).toThrow(['e.yaml:4:7: port must be a number', '  4 | port: a', '    |       ^'].join('\n'))
  expect(parse).toThrow('  2 |   - { clientSecret: ***, colour: red }\n    |                          ^')
  expect(parse).not.toThrow(/MARKED/)
})

it('draws a line with a syntax error without any value', () => {
  const text = 'clients:\n  - { clientSecret: "MARKED, clientId: 5\n'
  const parse = () => parseConfig(text, { file: 'e.yaml', now: 0, readFile: String, excerptWidth: 80 })
  expect(parse).toThrow(/^e\.yaml:\d+:\d+: is not valid YAML here: .*\n {2}\d+ \| .*\n {4}\| *\^$/)
  expect(parse).not.toThrow(/MARKED/)
})
