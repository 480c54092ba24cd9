/** Which fields the configuration of the emulator has: types, JSON Schema, names and docs follow from this schema. */
import { z } from 'zod'
import { eventSubscriptionSettings } from '../model/resources/event-subscription.ts'
import { queueSubscriptionSettings } from '../model/resources/namespace.ts'
import type { ReadonlyDeep } from '../model/schemas.ts'
import {
  azureSubscription,
  client,
  count,
  eventSubscription,
  field,
  filePath,
  ingressRule,
  list,
  milliseconds,
  namespace,
  plainName,
  port,
  queueSettings,
  settings,
  storage,
  storageAccountName,
  systemTopic,
  text,
  topic,
  url,
} from './resource-fields.ts'

/** Whether a text has the parts of a connection string of Service Bus or Event Hubs, in any order. */
function isBrokerString(given: string): boolean {
  const [, endpoint = ''] = /(?:^|;)\s*Endpoint=(sb:\/\/[^;\s]+)/i.exec(given) ?? []
  return URL.canParse(endpoint) && /(^|;)\s*SharedAccess(Key|Signature)=[^;]+/i.test(given)
}

const functionsHost = url.refine((given) => URL.parse(given)?.pathname === '/', {
  message: 'must be a URL without a path, like http://127.0.0.1:7071: that of the Event Grid trigger is added',
})
const functionHost = z.strictObject({
  resourceId: field(
    'Resource id of a function, or of a function app or slot for each of its functions. Default: each function that has no entry before.',
    text.startsWith('/', 'must begin with a slash'),
  ),
  url: functionsHost.describe('The host that serves the function; its system key may follow as ?code=. Required.'),
})

/** The namespaces of a provider, each with its own connection string. */
const brokers = (provider: string) =>
  list(
    z.strictObject({
      resourceId: field(
        'Resource id of the namespace. Default: any.',
        text.regex(
          new RegExp(
            `^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/${provider.replace('.', '\\.')}/namespaces/[^/]+$`,
            'i',
          ),
          `must be the id of a namespace: /subscriptions/.../providers/${provider}/namespaces/{name}`,
        ),
      ),
      connectionString: text
        .refine(
          isBrokerString,
          'must be a connection string: Endpoint=sb://HOST;SharedAccessKeyName=NAME;SharedAccessKey=KEY',
        )
        .describe('Its connection string; that of an emulator ends with UseDevelopmentEmulator=true. Required.'),
    }),
  )

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
  serviceBus: field(
    'Where events for queues and topics of Service Bus are sent: to the emulator of Microsoft, or to a namespace in Azure. Needs the ' +
      'package @azure/service-bus. The first that fits is used. Default: none, and such event subscriptions get a warning.',
    brokers('Microsoft.ServiceBus'),
  ),
  eventHubs: field(
    'Where events for event hubs are sent, in the same way. Needs the package @azure/event-hubs. Default: none.',
    brokers('Microsoft.EventHub'),
  ),
  concurrency: field('Deliveries under way at once, for each event subscription. Default: 64.', count),
  maxPending: field('The most undelivered events. Publishing more is answered 429. Default: 1000000.', count),
  maxPendingBytes: field(
    'The most bytes of memory that undelivered events hold. Publishing more is answered 429. Default: 268435456 (256 MiB), or a ' +
      'quarter of the memory that Node may use, if that is less.',
    count,
  ),
  maxRecordBytes: field(
    'The most bytes of memory that records of requests, events, attempts and dead letters hold: the oldest make room, those of what ' +
      'failed or waits last. Default: 67108864 (64 MiB), or an eighth of the memory that Node may use, if that is less.',
    count,
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
