import { expect, it } from 'vitest'
import { EmulatorConfigError, type ParsedConfig, parseConfig } from '../../src/config/config.ts'
import { emulatorDefaults } from '../../src/index.ts'
import { createCertificateAuthority } from '../../src/server/tls/certificates.ts'

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

/** An event subscription with more lines of settings before its endpoint. */
const audit = (...settings: readonly string[]) =>
  ['eventSubscriptions:', '  - name: audit', ...settings.map((line) => `    ${line}`), `    ${endpoint}`].join('\n')
const endpoint = 'endpoint: https://a.example/'
const properties = (of: string) => audit(`properties: { ${of} }`)
const lamps = `/subscriptions/${emulatorDefaults.subscriptionId}/resourceGroups/rg/providers/Microsoft.EventGrid/domains/shop/topics/lamps`

it.each<[name: string, text: string, fault: string | RegExp]>([
  ['syntax', 'topics:\n  - name: "orders', '2:11: is not valid YAML here: the quote that closes this one is missing'],
  ['a tab', 'topics:\n\t- name: orders', /^2:1: is not valid YAML here: tab as indent/],
  ['a key that stands twice', 'port: 1\nport: 2', '2:1: has the key "port" twice'],
  ['an alias of nothing', 'host: *nowhere', /^1:7: .*an alias without an anchor/],
  ['a second document', 'port: 1\n---\nport: 2', '2:1: must hold at most 1 document'],
  ['nothing', '# to be written\n', '1:1: is empty'],
  [
    'a name of a topic and a domain',
    'topics: [{ name: same }]\ndomains:\n  - name: same',
    '3:11: domains[0].name is a name that is taken in westeurope',
  ],
  ['a list', '- port: 1', '1:1: must be a mapping'],
  ['a text', 'orders', '1:1: must be a mapping'],
  ['an unknown field', 'port: 0\nTopic: []', '2:1: Topic is not a field; did you mean topics?'],
  ['one deep inside', 'topics: [{ nmae: x, name: orders }]', '1:12: topics[0].nmae is not a field; did you mean name?'],
  [
    'a field like no other',
    'ingress: [{ from: "https://a/", to: "https://b/", red: 1 }]',
    /^1:51: ingress\[0\]\.red is not a field here; the fields are from, to$/,
  ],
  ['a key of every prototype', '__proto__: { port: 1 }', /^1:1: __proto__ is not a field here/],
  ['another of them', 'constructor: 1', /^1:1: constructor is not a field here/],
  [
    'one for ARM',
    properties('__proto__: 1'),
    '3:19: eventSubscriptions[0].properties.__proto__ is not a field of Event Grid',
  ],
  ['a number for a text', 'tenantId: 12', '1:11: tenantId must be a text: put it in quotes'],
  ['a text for a number', 'concurrency: many', '1:14: concurrency must be a whole number'],
  ['a text for a switch', 'conflicts: "yes"', '1:12: conflicts must be true or false'],
  ['a mapping for a list', 'topics: { name: orders }', '1:9: topics must be a list'],
  ['a text for a mapping', 'topics: [orders]', '1:10: topics[0] must be a mapping'],
  ['nothing for a list', 'topics:', /^1:\d: topics must be a list/],
  ['a missing field', 'topics:\n  - location: here', '2:5: topics[0].name is required'],
  ['an empty text', 'tenantId: ""', '1:11: tenantId must not be empty'],
  ['a port out of range', 'port: 65536', '1:7: port must be a port, 0 to 65535'],
  ['a negative port', 'httpPort: -1', '1:11: httpPort must be a port, 0 to 65535'],
  ['half a port', 'port: 80.5', '1:7: port must be a whole number'],
  ['a port in quotes', 'port: "4430"', '1:7: port must be a whole number'],
  [
    'an Azurite by ftp',
    'storage: [{ account: acc, azurite: "ftp://x" }]',
    '1:36: storage[0].azurite must be a URL, such as http://127.0.0.1:10000',
  ],
  [
    'a path of another account',
    'storage: [{ account: acc, azurite: "http://x/other" }]',
    /^1:36: storage\[0\]\.azurite must name the host and port/,
  ],
  [
    'an account twice',
    'storage: [{ account: acc, azurite: "http://x" }, { account: acc, azurite: "http://y" }]',
    '1:61: storage[1].account is given twice',
  ],
  [
    'a port of an account, which there was once',
    'storage: [{ account: acc, azurite: "https://x/acc", port: 5 }]',
    '1:53: storage[0].port is no field any more; all accounts have one blob endpoint, whose port is blobPort',
  ],
  [
    'an account in no subscription',
    'storage: [{ account: acc, azurite: "http://x", subscriptionId: "1" }]',
    /^1:64: storage\[0\]\.subscriptionId must be one of subscriptions/,
  ],
  ['one port for both', 'port: 1\nhttpPort: 1', '2:11: httpPort must be another port than port'],
  ['one port for http and blobs', 'httpPort: 1\nblobPort: 1', '2:11: blobPort must be another port than httpPort'],
  ['a time that is past', 'retrySchedule: [-1]', '1:17: retrySchedule[0] must be 0 or more milliseconds'],
  ['no pause at all', 'retrySchedule: []', '1:16: retrySchedule must hold one pause at least'],
  ['a topic name', 'topics: [{ name: my_topic }]', /^1:18: topics\[0\]\.name must be 3 to 50/],
  ['one key', 'topics: [{ name: orders, keys: [abcd] }]', /^1:32: topics\[0\]\.keys(\[1\])? /],
  ['no base64', 'topics: [{ name: orders, keys: [abcd, "?"] }]', '1:39: topics[0].keys[1] must be base64'],
  [
    'an input schema',
    'topics: [{ name: abc, inputSchema: CloudEventSchema }]',
    /^1:36: .*; did you mean CloudEventSchemaV1_0\?$/,
  ],
  ['a topic twice', 'topics:\n  - name: orders\n  - name: Orders', '3:11: topics[1].name is given twice'],
  [
    'a client twice',
    'clients:\n  - clientId: a\n  - clientId: a',
    '3:15: clients[1].clientId is given twice; give all secrets of one client in one entry: clientSecret: [new, old]',
  ],
  ['a subscription twice', 'subscriptions:\n  - id: a\n  - id: A', '3:9: subscriptions[1].id is given twice'],
  [
    'an event subscription twice',
    `${audit()}\n  - name: Audit\n    ${endpoint}`,
    '4:11: eventSubscriptions[1].name is given twice',
  ],
  [
    'an unknown Azure subscription',
    'subscriptions: [{ id: shop }]\ntopics: [{ name: orders, subscriptionId: shpo }]',
    '2:42: topics[0].subscriptionId must be one of subscriptions; did you mean shop?',
  ],
  ['a topic', audit('topic: order'), '3:12: eventSubscriptions[0].topic must be one of topics; did you mean orders?'],
  [
    'a topic and a scope',
    audit('topic: orders', 'scope: /subscriptions/33333333-3333-4333-8333-333333333333'),
    '4:12: eventSubscriptions[0].scope must not be given together with topic',
  ],
  [
    'the delivery mode of a namespace',
    'namespaces:\n  - name: shop\n    topics:\n      - name: new\n        eventSubscriptions:\n          - name: app\n            properties: { deliveryConfiguration: { deliveryMode: Push } }',
    /^7:66: namespaces\[0\]\.topics\[0\]\.eventSubscriptions\[0\]\.properties\.deliveryConfiguration\.deliveryMode is refused: The emulator does not support/,
  ],
  ['neither', `topics: []\n${audit()}`, '3:5: eventSubscriptions[0] needs a scope, as there is no topic'],
  ['no slash', audit('scope: subscriptions/1'), '3:12: eventSubscriptions[0].scope must begin with a slash'],
  [
    'a scope of no form',
    audit('scope: /topics/orders'),
    '3:12: eventSubscriptions[0].scope must be the id of a subscription, a resource group or a resource',
  ],
  [
    'a scope in another Azure subscription',
    audit('scope: /subscriptions/1/resourceGroups/rg'),
    /^3:12: eventSubscriptions\[0\]\.scope names a subscription that is not there: 33333333-/,
  ],
  ['no endpoint', 'eventSubscriptions: [{ name: audit }]', '1:22: eventSubscriptions[0] needs an endpoint'],
  ['an http one', audit().replace('s://', '://'), '3:15: eventSubscriptions[0].endpoint must be an https URL'],
  [
    'a field that Resource Manager would leave out',
    properties('filter: { subjectBeginWith: a }'),
    /^3:29: .*\.properties\.filter\.subjectBeginWith is not a field of Event Grid; did you mean subjectBeginsWith\?$/,
  ],
  [
    'an unknown filter operator',
    properties('filter: { advancedFilters: [{ operatorType: StringIs, key: a, values: [b] }] }'),
    /^3:63: .*advancedFilters\[0\]\.operatorType is refused by Event Grid: .*operatorType' is invalid/,
  ],
  [
    'a delivery schema that the domain of a scope cannot have',
    `domains: [{ name: shop }]\n${audit(`scope: ${lamps}`, 'properties: { eventDeliverySchema: EventGridSchema }')}`,
    /^3:5: eventSubscriptions\[0\] is refused by Event Grid: .*"EventGridSchema" cannot be used/,
  ],
  [
    'a source twice',
    'systemTopics: [{ name: one, source: /a }, { name: two, source: /A }]',
    /^1:64: .*source is given twice$/,
  ],
  [
    'too many tries',
    properties('retryPolicy: { maxDeliveryAttempts: 31 }'),
    /^(3:\d+|2:5): .* is refused by Event Grid: /,
  ],
  ['a name', audit().replace('audit', 'a!'), /^2:5: eventSubscriptions\[0\] is refused by Event Grid: /],
  ['an unknown role', 'clients:\n  - roles: [EventGrid Data Sendr]', /^2:13: .* did you mean EventGrid Data Sender\?$/],
  ['no URL to send to', 'ingress: [{ from: "https://a/", to: "localhost" }]', '1:37: ingress[0].to must be a URL'],
  [
    'a certificate that is not there',
    'trustedCertificates: [none.pem]',
    "1:23: trustedCertificates[0] (none.pem) can't be read: there is no such file",
  ],
  [
    'a certificate that is none',
    'trustedCertificates: [ca.pem, letter.txt]',
    '1:31: trustedCertificates[1] (letter.txt) holds no PEM certificate',
  ],
])('refuses %s, and names the place', (_name, text, fault) => {
  const said = faults(text)
  expect(said).toEqual([expect.stringMatching(/^e\.yaml:/)])
  const [, what] = said[0]?.split('e.yaml:') ?? []
  if (typeof fault === 'string') expect(what).toBe(fault)
  else expect(what).toMatch(fault)
})

it('takes any delivery schema of Azure for the events of another resource, whatever the topics take', () => {
  const account = lamps.replace(/Microsoft.*/, 'Microsoft.Storage/storageAccounts/a')
  const given = audit(`scope: ${account}`, 'properties: { eventDeliverySchema: EventGridSchema }')
  expect(faults(`topics: [{ name: orders, inputSchema: CloudEventSchemaV1_0 }]\n${given}`)).toEqual([])
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
  expect(parse).toThrow(['e.yaml:4:7: port must be a whole number', '  4 | port: a', '    |       ^'].join('\n'))
  expect(parse).toThrow('  2 |   - { clientSecret: ***, colour: red }\n    |                          ^')
  expect(parse).not.toThrow(/MARKED/)
})

it('draws a line with a syntax error without any value', () => {
  const text = 'clients:\n  - { clientSecret: "MARKED, clientId: 5\n'
  const parse = () => parseConfig(text, { file: 'e.yaml', now: 0, readFile: String, excerptWidth: 80 })
  expect(parse).toThrow(/^e\.yaml:\d+:\d+: is not valid YAML here: .*\n {2}\d+ \| .*\n {4}\| *\^$/)
  expect(parse).not.toThrow(/MARKED/)
})
