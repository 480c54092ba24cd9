/** Which fields an application, an Azure subscription, a topic, a namespace and each other resource of the configuration has. */
import { z } from 'zod'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { builtInRoles, findRole } from '../entra/roles.ts'
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

export const text = z.string().min(1, 'must not be empty')
/** The text of a file in its place may be a key, so it must not be looked for and printed. */
export const filePath = text.refine(
  (path) => !/[\r\n]|-----BEGIN/.test(path),
  'must be the path of a file, not its text',
)
export const port = z
  .int('must be a whole number')
  .min(0, 'must be a port, 0 to 65535')
  .max(65_535, 'must be a port, 0 to 65535')
export const milliseconds = z.number().min(0, 'must be 0 or more milliseconds')
export const count = z.int('must be a whole number').min(1, 'must be 1 or more')
export const list = <T extends z.ZodType>(item: T) => z.array(item).max(10_000, 'must hold at most 10000 entries')

/** A field that may be left out, and what it means. */
export const field = <T extends z.ZodType>(about: string, schema: T) => z.exactOptional(schema).describe(about)

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

export const client = z.strictObject({
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

export const azureSubscription = z.strictObject({
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
export const plainName = z.string().regex(/^[A-Za-z0-9-]{3,50}$/, 'must be 3 to 50 letters, digits and hyphens')
const name = plainName.describe('3 to 50 letters, digits and hyphens. Required.')

export const topic = z.strictObject({
  name,
  ...place,
  inputSchema: field(
    "The schema of its events. Default: CloudEventSchemaV1_0 (of a topic made through ARM it is Azure's, EventGridSchema).",
    z.enum(inputSchemas),
  ),
  inputSchemaMapping: field(
    "Where the Event Grid fields are in events of CustomEventSchema, in ARM's shape. Default: under Event Grid's own names.",
    inputSchemaMappingBy(z.strictObject),
  ),
  keys,
  disableLocalAuth: field('Refuses keys and SAS tokens. Default: false.', z.boolean()),
})

export const systemTopic = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9-]{3,128}$/, 'must be 3 to 128 letters, digits and hyphens')
    .describe('3 to 128 letters, digits and hyphens. Required.'),
  source: scope.describe('Resource id of the source of its events, a storage account for instance. Required.'),
  ...place,
})

/** Read by the schemas of Resource Manager, so that a fault is that of a PUT. */
export const settings = z.record(z.string(), z.unknown())
export const queueSettings = z.record(z.string(), z.unknown())
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
export const namespace = z.strictObject({
  name,
  ...place,
  keys,
  topics: field('Its topics, which take CloudEvents. Default: none.', list(namespaceTopic)),
})

export const url = z.string().refine((given) => isUrl(given, ['https:', 'http:']), 'must be a URL')
export const ingressRule = z.strictObject({
  from: url.describe('What the public URL begins with. Required.'),
  to: url.describe('What stands in its place. Required.'),
})

export const storageAccountName = z.string().regex(/^[a-z0-9]{3,24}$/, 'must be 3 to 24 lower-case letters and digits')
export const storage = z
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
