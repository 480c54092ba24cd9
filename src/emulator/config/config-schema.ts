// Fields of the configuration file: allowed values, descriptions, defaults, "must be" texts.
import { z } from 'zod'
import { didYouMean } from '../../support/text/nearest-name.ts'
import { builtInRoles, findRole } from '../entra/roles.ts'
import { inputSchemaMappingBy } from '../model/events/input-schema-mapping.ts'

const text = z.string().min(1, 'must not be empty')
const port = z
  .int('must be a whole number')
  .min(0, 'must be a port, 0 to 65535')
  .max(65_535, 'must be a port, 0 to 65535')
const milliseconds = z.number().min(0, 'must be 0 or more milliseconds')
const count = z.int('must be a whole number').min(1, 'must be 1 or more')
const list = <T extends z.ZodType>(item: T) => z.array(item).max(10_000, 'must hold at most 10000 entries')

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
  z.strictObject({ role, scope: z.exactOptional(scope) }),
)

const client = z.strictObject({
  tenantId: z.exactOptional(text),
  clientId: z.exactOptional(text),
  clientSecret: z.exactOptional(text),
  objectId: z.exactOptional(text),
  roles: z.exactOptional(list(grant)),
})

const azureSubscription = z.strictObject({
  id: z.exactOptional(text),
  tenantId: z.exactOptional(text),
  registered: z.exactOptional(z.boolean()),
  resourceGroups: z.exactOptional(list(text).min(1, 'must name one at least')),
})

const place = {
  subscriptionId: z.exactOptional(text),
  resourceGroup: z.exactOptional(text),
  location: z.exactOptional(text),
}
const key = z.string().regex(/^[A-Za-z0-9+/]{4,}={0,2}$/, 'must be base64')
const keys = z.exactOptional(z.tuple([key, key]))
const name = z.string().regex(/^[A-Za-z0-9-]{3,50}$/, 'must be 3 to 50 letters, digits and hyphens')

const topic = z.strictObject({
  name,
  ...place,
  inputSchema: z.exactOptional(z.enum(['CloudEventSchemaV1_0', 'EventGridSchema', 'CustomEventSchema'])),
  inputSchemaMapping: z.exactOptional(inputSchemaMappingBy(z.strictObject)),
  keys,
  disableLocalAuth: z.exactOptional(z.boolean()),
})

const systemTopic = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9-]{3,128}$/, 'must be 3 to 128 letters, digits and hyphens'),
  source: scope,
  ...place,
})

const properties = z.exactOptional(z.record(z.string(), z.unknown()))
const eventSubscription = z.strictObject({
  name: text,
  topic: z.exactOptional(text),
  scope: z.exactOptional(scope),
  endpoint: z.exactOptional(z.string().refine((url) => isUrl(url, ['https:']), 'must be an https URL')),
  properties,
})

const queueSubscription = z.strictObject({ name, properties })
const retentionDays = z.int('must be a whole number').min(1, 'must be 1 to 7').max(7, 'must be 1 to 7')
const namespaceTopic = z.strictObject({
  name,
  eventRetentionInDays: z.exactOptional(retentionDays),
  eventSubscriptions: z.exactOptional(list(queueSubscription)),
})
const namespace = z.strictObject({ name, ...place, keys, topics: z.exactOptional(list(namespaceTopic)) })

const url = z.string().refine((given) => isUrl(given, ['https:', 'http:']), 'must be a URL')
const ingressRule = z.strictObject({ from: url, to: url })

/** A field that may be left out, with what an editor shows for it. */
const field = <T extends z.ZodType>(about: string, schema: T) => z.exactOptional(schema).describe(about)

/** With an account and its key or a signature, or Azurite's short form. */
const connectionString = text.regex(
  /^UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;]+/i,
  'must be a connection string of a storage account (AccountName=…;AccountKey=…)',
)

/** The schema of a configuration file: those options of the emulator that are data, under the same names. */
export const configSchema = z.strictObject({
  port: field('Port of Resource Manager, Entra and the topics, https. 0 takes a free one. Default: 4430.', port),
  httpPort: field('Port of the topics over http, the page and the proxy. 0 takes a free one. Default: 4431.', port),
  host: field('Address to listen on. Default: 127.0.0.1.', text),
  state: field(
    'File that keeps topics, subscriptions, keys and undelivered events. Relative to this file. Default: memory.',
    text,
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
  topics: field('Custom topics. Default: one, orders.', list(topic)),
  domains: field('Domains. The first event subscription of a domain topic creates it. Default: none.', list(topic)),
  systemTopics: field('System topics: the events of other resources of Azure. Default: none.', list(systemTopic)),
  namespaces: field(
    'Namespaces with topics and Queue event subscriptions, for pull delivery. Default: none.',
    list(namespace),
  ),
  eventSubscriptions: field(
    'Webhook event subscriptions that exist from the start. Default: none.',
    list(eventSubscription),
  ),
  ingress: field(
    'Where public URLs are really served. The first rule that fits is used. Default: none.',
    list(ingressRule),
  ),
  trustedCertificates: field('PEM files to trust at subscribers, relative to this file. Default: none.', list(text)),
  retrySchedule: field(
    'Milliseconds between delivery attempts. The last one repeats. Default: those of Event Grid.',
    list(milliseconds).min(1, 'must hold one pause at least'),
  ),
  deadLetterDelay: field('Milliseconds from the last attempt to the dead-letter. Default: 300000.', milliseconds),
  deadLetterConnectionString: field(
    'Storage account for dead-letters. Needs the package @azure/storage-blob. Default: memory.',
    connectionString,
  ),
  storageQueueConnectionString: field(
    'Storage account of the queues that events are delivered to. Needs the package @azure/storage-queue. Default: none.',
    connectionString,
  ),
  concurrency: field('Deliveries under way at once, for each event subscription.', count),
  maxPending: field('The maximum number of undelivered events. Publishing more is answered 429.', count),
  maxPendingBytes: field('The maximum size of undelivered events, in bytes. Publishing more is answered 429.', count),
  operationDelayMs: field('Milliseconds that a long-running operation takes at least. Default: 0.', milliseconds),
  operationRetryAfter: field(
    'Retry-After of the answers 201 and 202 to a long-running operation, in seconds. Default: none sent.',
    count,
  ),
  conflicts: field(
    'Answer 409 to a change of an event subscription while another one runs? Default: false.',
    z.boolean(),
  ),
  throttling: field("Answer 429 beyond Azure's rates? Default: false.", z.boolean()),
  deliveryTokenVersion: field('Version of the Entra tokens of deliveries. Default: 1.0.', z.enum(['1.0', '2.0'])),
  tokenLifetimeSeconds: field('Life of the tokens given to clients. Default: 3599.', count),
})

export type Config = z.infer<typeof configSchema>

function isUrl(value: string, protocols: readonly string[]): boolean {
  return URL.canParse(value) && protocols.includes(new URL(value).protocol)
}

/** The names that the mapping at a path may have. */
export const namesAt = (path: readonly PropertyKey[]): readonly string[] => namesIn(configSchema, path)

function namesIn(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodExactOptional) return namesIn(schema.unwrap(), path)
  if (schema instanceof z.ZodPipe) return namesIn(schema.out, path)
  const [first, ...rest] = path
  if (schema instanceof z.ZodArray) return first === undefined ? [] : namesIn(schema.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  return first === undefined ? Object.keys(schema.shape) : namesIn(schema.shape[String(first)], rest)
}
