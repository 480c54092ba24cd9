/** Which fields the emulator's configuration has: names, values, meanings, defaults. Types, JSON Schema, names and docs follow from it. */
import { z } from 'zod'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { builtInRoles, findRole } from '../entra/roles.ts'
import { eventSubscriptionSettings } from '../model/resources/event-subscription.ts'
import { queueSubscriptionSettings } from '../model/resources/namespace.ts'
import { inputSchemaMappingBy, inputSchemas } from '../model/resources/resource.ts'
import type { ReadonlyDeep } from '../model/schemas.ts'

/** The ids that are used where none are given; the same at every start. */
export const emulatorDefaults = {
  tenantId: '11111111-1111-4111-8111-111111111111',
  clientId: '22222222-2222-4222-8222-222222222222',
  subscriptionId: '33333333-3333-4333-8333-333333333333',
  resourceGroup: 'rg',
  topic: 'orders',
  location: 'westeurope',
  tokenLifetimeSeconds: 3599,
} as const

const text = z.string().min(1, 'must not be empty')
/** The text of a file in its place may be a key, so it must not be looked for and printed. */
const filePath = text.refine((path) => !/[\r\n]|-----BEGIN/.test(path), 'must be the path of a file, not its text')
const port = z
  .int('must be a whole number')
  .min(0, 'must be a port, 0 to 65535')
  .max(65_535, 'must be a port, 0 to 65535')
const milliseconds = z.number().min(0, 'must be 0 or more milliseconds')
const count = z.int('must be a whole number').min(1, 'must be 1 or more')
const list = <T extends z.ZodType>(item: T) => z.array(item).max(10_000, 'must hold at most 10000 entries')

/** A field that may be left out, and what it means. */
const field = <T extends z.ZodType>(about: string, schema: T) => z.exactOptional(schema).describe(about)

const role = text.refine((name) => findRole(name) !== undefined, {
  error: ({ input }) => {
    const names = builtInRoles.map(({ name }) => name)
    const question = didYouMean(String(input), names)
    return `must be a role that the emulator knows${question === undefined ? `: ${names.join(', ')}` : `; ${question}`}`
  },
})
const scope = text.startsWith('/', 'must begin with a slash')
const grant = z.preprocess(
  (value) => (typeof value === 'string' ? { role: value } : value),
  z.strictObject({
    role: role.describe('Name or id of a built-in role: those of Event Grid, and Azure’s general ones. Required.'),
    scope: field('Where it holds, and below. Default: /, everywhere.', scope),
  }),
)

const client = z.strictObject({
  tenantId: field('Its tenant. Default: tenantId of the file.', text),
  clientId: field('Its application id. Default: 22222222-2222-4222-8222-222222222222.', text),
  clientSecret: field(
    'Its secret, or a list of secrets that are valid at once, as during a rotation; the emulator shows the first. Default: random.',
    z.union(
      [text, list(text).min(1, 'must name one at least').max(20, 'must name 20 at most')],
      'must be a text, or a list of 1 to 20 texts',
    ),
  ),
  objectId: field('The object id of its service principal. Default: derived from the client id.', text),
  roles: field(
    'What it may do; in a file a role may be its name alone. Default: EventGrid EventSubscription Contributor, EventGrid Data ' +
      'Sender, EventGrid Data Receiver; and EventGrid Contributor at the namespaces given.',
    list(grant),
  ),
})

const azureSubscription = z.strictObject({
  id: field('Its id. Default: subscriptionId of the file.', text),
  tenantId: field('Its tenant. Default: that of the first client.', text),
  registered: field('Whether the provider Microsoft.EventGrid is registered. Default: true.', z.boolean()),
  resourceGroups: field(
    "Its resource groups; a topic's is added by itself. Default: rg.",
    list(text).min(1, 'must name one at least'),
  ),
})

const place = {
  subscriptionId: field('Its Azure subscription. Default: the first.', text),
  resourceGroup: field('Its resource group. Default: the first of its subscription.', text),
  location: field('Its region. Default: westeurope.', text),
}
const key = z.string().regex(/^[A-Za-z0-9+/]{4,}={0,2}$/, 'must be base64')
const keys = field(
  'Its two keys, base64. Default: random, and kept while it exists.',
  z.tuple([key, key], 'must be a list of two'),
)
const plainName = z.string().regex(/^[A-Za-z0-9-]{3,50}$/, 'must be 3 to 50 letters, digits and hyphens')
const name = plainName.describe('3 to 50 letters, digits and hyphens. Required.')

export const topic = z.strictObject({
  name,
  ...place,
  inputSchema: field(
    "The schema of its events. Default: CloudEventSchemaV1_0 (of a topic made through ARM it is Azure's, EventGridSchema).",
    z.enum(inputSchemas),
  ),
  bothSchemas: field(
    'Takes CloudEvents and Event Grid events alike, as no topic of Azure does; for those who come from other emulators. ' +
      'Default: false.',
    z.boolean(),
  ),
  inputSchemaMapping: field(
    "Where the Event Grid fields are in events of CustomEventSchema, in ARM's shape. Default: under Event Grid's own names.",
    inputSchemaMappingBy(z.strictObject),
  ),
  keys,
  disableLocalAuth: field('Refuses keys and SAS tokens. Default: false.', z.boolean()),
})

const systemTopic = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9-]{3,128}$/, 'must be 3 to 128 letters, digits and hyphens')
    .describe('3 to 128 letters, digits and hyphens. Required.'),
  source: scope.describe('Resource id of the source of its events, a storage account for instance. Required.'),
  ...place,
})

/** Read by the schemas of Resource Manager, so that a fault is that of a PUT. */
const settings = z.record(z.string(), z.unknown())
const queueSettings = z.record(z.string(), z.unknown())
export const eventSubscription = z.strictObject({
  name: text.describe('3 to 64 letters, digits and hyphens. Required.'),
  topic: field('The custom topic whose events it gets. Default: the first.', text),
  scope: field(
    'Resource id of another source, in place of topic: a domain, a domain topic, a system topic, a storage account.',
    scope,
  ),
  endpoint: field(
    "The webhook's public https URL, which ingress may send to a local port. Default: that of properties.destination.",
    z.string().refine((url) => isUrl(url, ['https:']), 'must be an https URL'),
  ),
  properties: field(
    "Filter, retry policy, delivery schema, destination and so on, in ARM's shape. Default: Event Grid's defaults.",
    settings,
  ),
})

const queueSubscription = z.strictObject({
  name,
  properties: field(
    "deliveryConfiguration and filtersConfiguration, in ARM's shape. Default: a queue with Event Grid's defaults.",
    queueSettings,
  ),
})
const namespaceTopic = z.strictObject({
  name,
  eventRetentionInDays: field(
    'Days that an event is stored, 1 to 7. Default: 1.',
    z.int('must be a whole number').min(1, 'must be 1 to 7').max(7, 'must be 1 to 7'),
  ),
  eventSubscriptions: field('Its Queue event subscriptions. Default: none.', list(queueSubscription)),
})
const namespace = z.strictObject({
  name,
  ...place,
  keys,
  topics: field('Its topics, which take CloudEvents. Default: none.', list(namespaceTopic)),
})

const url = z.string().refine((given) => isUrl(given, ['https:', 'http:']), 'must be a URL')
const ingressRule = z.strictObject({
  from: url.describe('What the public URL begins with. Required.'),
  to: url.describe('What stands in its place. Required.'),
})

const functionsHost = z
  .string()
  .refine((given) => isUrl(given, ['https:', 'http:']) && new URL(given).pathname === '/', {
    message: 'must be a URL without a path, like http://127.0.0.1:7071: that of the Event Grid trigger is added',
  })
const functionHost = z.strictObject({
  resourceId: scope.describe(
    'Resource id of a function, or of a function app or slot for each of its functions. Required.',
  ),
  url: functionsHost.describe('The host that serves the function; its system key may follow as ?code=. Required.'),
})

const storageAccountName = z.string().regex(/^[a-z0-9]{3,24}$/, 'must be 3 to 24 lower-case letters and digits')
const storage = z
  .strictObject({
    account: storageAccountName.describe(
      'Name of the storage account: 3 to 24 lower-case letters and digits. Required.',
    ),
    azurite: z
      .string()
      .refine((given) => isUrl(given, ['https:', 'http:']), 'must be a URL, such as http://127.0.0.1:10000')
      .describe("Azurite's blob service: its URL, such as http://127.0.0.1:10000. Required."),
    subscriptionId: place.subscriptionId,
    resourceGroup: place.resourceGroup,
  })
  .refine(({ account, azurite }) => isBaseOf(account, azurite), {
    message: 'must name the host and port of Azurite, with no path but that of the account',
    path: ['azurite'],
  })

/** With an account and its key or a signature, or Azurite's short form. */
const connectionString = text.regex(
  /^UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;]+/i,
  'must be a connection string of a storage account (AccountName=…;AccountKey=…)',
)

/** The schema of a configuration file: those options of the emulator that are data, under the same names. */
export const configSchema = z.strictObject({
  port: field('Port of Resource Manager, Entra and the topics, https. 0 takes a free one. Default: 4430.', port),
  httpPort: field('Port of the topics over http, the page and the proxy. 0 takes a free one. Default: 4431.', port),
  blobPort: field(
    'Port of the blob endpoint of all accounts of storage, http and https. 0 takes a free one. Default: 4432.',
    port,
  ),
  topicPorts: field(
    'A port of its own for a topic, by its name: there /api/events is the topic, over https and http. Default: none.',
    z.record(plainName, port),
  ),
  host: field('Address to listen on. Default: 127.0.0.1.', text),
  state: field(
    'File that keeps topics, subscriptions, keys, generated secrets and undelivered events; not encrypted, for its owner only. ' +
      'Relative to this file. Default: memory.',
    filePath,
  ),
  tenantId: field('Tenant of the clients and Azure subscriptions that name none.', text),
  subscriptionId: field('The Azure subscription, where subscriptions is not given.', text),
  resourceGroup: field('Its resource group, where subscriptions is not given. Default: rg.', text),
  clients: field(
    'Applications that may sign in, with their roles. Default: one client.',
    list(client).min(1, 'must name one at least'),
  ),
  subscriptions: field(
    'Azure subscriptions. Default: one, registered.',
    list(azureSubscription).min(1, 'must name one at least'),
  ),
  deliver: field(
    'Topics, by name, and the local URL, or URLs, that get their events: topic, event subscription and ingress in one. Default: none.',
    z.record(plainName, z.union([url, list(url)], 'must be a URL, like http://127.0.0.1:3000/hook, or a list of URLs')),
  ),
  topics: field('Custom topics. Default: those of deliver, else one, orders.', list(topic)),
  domains: field('Domains. The first event subscription of a domain topic creates it. Default: none.', list(topic)),
  systemTopics: field('System topics: the events of other resources of Azure. Default: none.', list(systemTopic)),
  namespaces: field(
    'Namespaces with topics and Queue event subscriptions, for pull delivery. Default: none.',
    list(namespace),
  ),
  storageAccounts: field(
    'Names of the storage accounts that are in its Azure subscriptions: an event subscription to another one there fails, as in ' +
      'Azure. Default: every account is taken to be there.',
    list(storageAccountName),
  ),
  storage: field(
    'Storage accounts whose blobs raise events: clients reach them at blobPort, which is in front of Azurite. They are in its Azure ' +
      'subscriptions, whatever storageAccounts says. Default: none.',
    z.array(storage).max(50, 'must hold at most 50 entries'),
  ),
  eventSubscriptions: field(
    'Webhook event subscriptions that exist from the start; a failed handshake is tried again every 5 seconds, unless ' +
      'retryHandshakes is false. Default: none.',
    list(eventSubscription),
  ),
  retryHandshakes: field(
    'Whether a webhook is asked again every 5 seconds after a failed handshake, and while it waits for a manual validation, which ' +
      'Azure does not do. true: each one, false: none. Default: those of the options after a failure, and with deliver while they wait.',
    z.boolean(),
  ),
  manualValidationTimeout: field(
    'Milliseconds for the manual validation of a webhook that answered the handshake without its consent. Default: 600000.',
    milliseconds,
  ),
  ingress: field(
    'Where public URLs are really served. The first rule that fits is used. Default: none.',
    list(ingressRule),
  ),
  trustedCertificates: field(
    "PEM files to trust at subscribers and at Azurite beside Node's own, relative to this file. Default: none.",
    list(filePath),
  ),
  answerTimeout: field(
    'Milliseconds that a webhook may take for its answer to a handshake or a delivery: real time, also with a manual clock, which waits ' +
      'for it. Default: 30000.',
    z.int('must be a whole number').min(1, 'must be 1 to 600000').max(600_000, 'must be 1 to 600000'),
  ),
  retrySchedule: field(
    'Milliseconds between delivery attempts; the last one repeats. Default: those of Event Grid, 10 s to 12 h.',
    list(milliseconds).min(1, 'must hold one pause at least'),
  ),
  deadLetterDelay: field('Milliseconds from the last attempt to the dead-letter. Default: 300000.', milliseconds),
  deadLetterConnectionString: field(
    'Storage account for dead-letters; UseDevelopmentStorage=true is Azurite. Needs the package @azure/storage-blob. Default: memory.',
    connectionString,
  ),
  deadLetterCreatesContainer: field(
    'Makes a container for dead letters that does not exist. Azure does not: it drops the dead letters. Default: false.',
    z.boolean(),
  ),
  storageQueueConnectionString: field(
    'Storage account of the queues that events are delivered to; UseDevelopmentStorage=true is Azurite. Needs the package ' +
      '@azure/storage-queue. Default: none, and event subscriptions of storage queues get a warning.',
    connectionString,
  ),
  functions: field(
    'Hosts of Azure Functions that events are delivered to, such as http://127.0.0.1:7071 of func start: one URL for all functions, or a ' +
      'list of resource ids with URLs, of which the first that fits is used. Default: none, and event subscriptions of functions get a ' +
      'warning.',
    z.union(
      [functionsHost, list(functionHost)],
      'must be a URL without a path, like http://127.0.0.1:7071, or a list of { resourceId, url }',
    ),
  ),
  concurrency: field('Deliveries under way at once, for each event subscription. Default: 64.', count),
  maxPending: field('The most undelivered events. Publishing more is answered 429. Default: 1000000.', count),
  maxPendingBytes: field(
    'The most bytes of memory that undelivered events hold. Publishing more is answered 429. Default: 268435456 (256 MiB), or four ' +
      'tenths of the memory that Node may use, if that is less.',
    count,
  ),
  maxRecordBytes: field(
    'The most bytes of memory that records of requests, events, attempts and dead letters hold: the oldest make room, those of what ' +
      'failed or waits last. Default: 67108864 (64 MiB), or an eighth of the memory that Node may use, if that is less.',
    count,
  ),
  pageEvents: field(
    'The most events that the page shows: the newest, and of the others those that wait or failed the longest. 5000 at most. Default: 300.',
    count.max(5000, 'must be 5000 at most'),
  ),
  operationDelayMs: field('Milliseconds that a long-running operation takes at least. Default: 0.', milliseconds),
  operationRetryAfter: field(
    'Retry-After of the answers 201 and 202 to a long-running operation, in seconds; clients wait so long, and Azure sends 10. ' +
      'Default: none sent.',
    count,
  ),
  conflicts: field(
    'Answer 409 to a change of an event subscription while another one runs? Default: false.',
    z.boolean(),
  ),
  throttling: field(
    "Answer 429 beyond Azure's rates, of calls to Resource Manager and of a topic's events in a second? Default: false.",
    z.boolean(),
  ),
  deliveryTokenVersion: field(
    "Version of the Entra tokens of deliveries: what the manifest of the webhook's application asks for. Default: 1.0.",
    z.enum(['1.0', '2.0']),
  ),
  tokenLifetimeSeconds: field('Life of the tokens given to clients, in seconds. Default: 3599.', count),
})

export type Config = z.infer<typeof configSchema>

/** The fields of a configuration file as options. */
export type ConfigOptions = ReadonlyDeep<Config>
/** An application that may sign in. */
export type ClientOptions = ReadonlyDeep<z.infer<typeof client>>
/** An Azure subscription. */
export type AzureSubscriptionOptions = ReadonlyDeep<z.infer<typeof azureSubscription>>
/** A custom topic or a domain that exists from the start. */
export type TopicOptions = ReadonlyDeep<z.infer<typeof topic>>
/** A system topic that exists from the start: the events of another resource of Azure. */
export type SystemTopicOptions = ReadonlyDeep<z.infer<typeof systemTopic>>
/** A storage account whose blobs, in Azurite, raise events. */
export type StorageOptions = ReadonlyDeep<z.infer<typeof storage>>
/** An event subscription with a webhook that exists from the start, as soon as its endpoint passes the handshake. */
export type EventSubscriptionOptions = ReadonlyDeep<z.infer<typeof eventSubscription>>
/** An Event Grid namespace, for pull delivery. */
export type NamespaceOptions = ReadonlyDeep<z.infer<typeof namespace>>
/** A topic of a namespace. It takes CloudEvents. */
export type NamespaceTopicOptions = ReadonlyDeep<z.infer<typeof namespaceTopic>>
/** A Queue event subscription of a namespace topic. */
export type QueueSubscriptionOptions = ReadonlyDeep<z.infer<typeof queueSubscription>>
/** Where a resource is. */
export type Place = Pick<TopicOptions, keyof typeof place>

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol)
}

/** Azurite's own URLs end with the account. */
function isBaseOf(account: string, azurite: string): boolean {
  const url = URL.parse(azurite)
  return url === null || (['/', `/${account}`, `/${account}/`].includes(url.pathname) && url.search === '')
}

/**
 * The JSON Schema (draft 7) of the emulator's configuration file, for editors: without the rules that a JSON Schema can't say, such
 * as names that refer to each other.
 */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema === settings) Object.assign(jsonSchema, armSchema(eventSubscriptionSettings))
      if (zodSchema === queueSettings) Object.assign(jsonSchema, armSchema(queueSubscriptionSettings))
      if (zodSchema instanceof z.ZodPipe) allowName(jsonSchema)
      // zod's own format, which validators do not know. The pattern beside it says the same.
      if (jsonSchema.format === 'starts_with') delete jsonSchema.format
    },
  })
  return { ...schema, title: 'Configuration of the emulator' }
}

/** Names and values of settings in ARM's shape. What is required is left to the start, which fills in an endpoint and the delivery mode. */
function armSchema(schema: z.ZodType): object {
  const {
    $schema: _draft,
    additionalProperties,
    ...rest
  } = z.toJSONSchema(schema, {
    target: 'draft-7',
    override({ jsonSchema }) {
      delete jsonSchema.required
      // Validators know no formats by themselves.
      delete jsonSchema.format
    },
  })
  return { ...rest, additionalProperties: additionalProperties ?? false }
}

/** A role may be written as its name alone: a pipe makes a mapping of it before it is checked. */
function allowName(role: z.core.JSONSchema.BaseSchema): void {
  const mapping = { ...role }
  for (const key of Object.keys(role)) delete role[key]
  role.anyOf = [{ type: 'string', minLength: 1 }, mapping]
}
