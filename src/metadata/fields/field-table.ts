// All metadata fields: names, aliases, sides, defaults, required, secret, examples, descriptions.

/** The two sides of the binding (specification, section 1). */
export type Side = 'input' | 'output'

/** One metadata field. Schema, docs/metadata.md, descriptor and redaction all read this table. */
export interface MetadataField {
  /** As it is documented; it matches in any letter case. */
  readonly name: string
  /** Other names of the same field, which match in the same way. */
  readonly aliases: readonly string[]
  /** The sides that read it. A field of one side alone configures that side. */
  readonly sides: readonly Side[]
  /** Must a configured side have it? Another credential can replace it: docs/metadata.md, "Credentials". */
  readonly required: boolean
  /** The value of a field that is left out, as a user would write it. */
  readonly default: string | undefined
  /** The behaviour without it, where there is no fixed default. */
  readonly otherwise: string | undefined
  /** Whether its value is never printed, and a component holds it as a `Secret`. */
  readonly secret: boolean
  /** How its value may be printed; a row that does not say is redacted. */
  readonly shown: 'plain' | 'url' | 'redacted'
  /** Whether the value `default` resets the setting of the event subscription to Event Grid's own default. */
  readonly resettable: boolean
  /** Its format, in words. */
  readonly type: string
  /** A value to start from, for a field that a user may have to add. */
  readonly example: string | undefined
  /** What it is for. */
  readonly about: string
}

type Row = Pick<MetadataField, 'sides' | 'type' | 'about'> & Partial<MetadataField>

const input = { sides: ['input'] } as const
const output = { sides: ['output'] } as const
const plainInput = { ...input, shown: 'plain' } as const
const requiredInput = { ...plainInput, required: true } as const
const plainOutput = { ...output, shown: 'plain' } as const
const plainBoth = { sides: ['input', 'output'], shown: 'plain' } as const
const secretInput = { ...input, secret: true } as const
/** A setting of the event subscription: without it the existing setting in Azure is kept. */
const setting = { ...plainInput, resettable: true, otherwise: 'the setting in Azure' } as const

/** The rows of the table, in the order in which they are documented. */
export const rows = {
  // The specification's table 2.2, in its order.
  tenantId: {
    ...requiredInput,
    aliases: ['azureTenantId'],
    type: 'string: an id or a domain name',
    example: 'contoso.onmicrosoft.com',
    about:
      'Tenant in which the event subscription is created. The output reads it too with `topicAuthentication: entra`.',
  },
  subscriptionId: {
    ...requiredInput,
    aliases: ['azureSubscriptionId'],
    type: 'string',
    example: '00000000-0000-0000-0000-000000000000',
    about: 'Cloud subscription in which the event subscription is created.',
  },
  clientId: {
    ...requiredInput,
    aliases: ['azureClientId'],
    type: 'string',
    example: '00000000-0000-0000-0000-000000000000',
    about:
      'Client that creates or updates the event subscription. The output reads it too with `topicAuthentication: entra`.',
  },
  clientSecret: {
    ...secretInput,
    required: true,
    aliases: ['azureClientSecret'],
    type: 'string (secret)',
    about: 'Secret of that client. The output reads it too with `topicAuthentication: entra`.',
  },
  subscriberEndpoint: {
    ...input,
    required: true,
    shown: 'url',
    type: 'https URL; without a path, `/api/events`',
    example: 'https://orders.example.com/api/events',
    about: 'Public HTTPS endpoint at which Event Grid performs the handshake and delivers events.',
  },
  handshakePort: {
    ...requiredInput,
    type: 'string holding a port number, 1-65535',
    example: '8080',
    about: 'Container port on which the binding listens for handshakes and events.',
  },
  scope: {
    ...requiredInput,
    type: 'resource id path',
    example: '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.EventGrid/topics/TOPIC',
    about: 'Resource for which the event subscription is created or updated.',
  },
  eventSubscriptionName: {
    ...plainInput,
    otherwise: 'made from the name of the component',
    type: '3 to 64 letters and digits',
    about: 'Name of the event subscription.',
  },
  accessKey: {
    ...output,
    required: true,
    secret: true,
    type: 'string (secret)',
    about: 'Access key for publishing to the custom topic.',
  },
  topicEndpoint: {
    ...output,
    required: true,
    shown: 'url',
    type: 'https URL; http for loopback only',
    example: 'https://TOPIC.westeurope-1.eventgrid.azure.net/api/events',
    about: 'Endpoint of the custom topic to which events are published.',
  },
  // Optional additions.
  includedEventTypes: { ...setting, type: 'list', about: 'Event types to deliver.' },
  subjectBeginsWith: { ...setting, type: 'string', about: 'Deliver only events whose subject begins so.' },
  subjectEndsWith: { ...setting, type: 'string', about: 'Deliver only events whose subject ends so.' },
  advancedFilters: {
    ...setting,
    type: 'JSON array of `{ operatorType, key, value or values }`; at most 25 filters and 25 values',
    about: "Advanced filters, in ARM's spelling.",
  },
  maxDeliveryAttempts: { ...setting, type: 'integer, 1-30', about: 'How often Event Grid tries to deliver an event.' },
  eventTimeToLive: { ...setting, type: 'duration in whole minutes, 1m-24h', about: 'How long Event Grid tries.' },
  maxEventsPerBatch: { ...setting, type: 'integer, 1-5000', about: 'Most events in one delivery.' },
  preferredBatchSizeInKilobytes: { ...setting, type: 'integer, 1-1024', about: 'Size a delivery should have.' },
  deadLetterStorageAccountId: {
    ...setting,
    type: 'resource id of a storage account',
    example: '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.Storage/storageAccounts/ACCOUNT',
    about: 'Where undeliverable events go. Needs `deadLetterContainer`.',
  },
  deadLetterContainer: {
    ...setting,
    type: 'name of a blob container',
    example: 'dead-letters',
    about: 'Container for undeliverable events. Needs `deadLetterStorageAccountId`.',
  },
  labels: { ...setting, type: 'list', about: 'Labels of the event subscription.' },
  replaceDestination: {
    ...plainInput,
    default: 'false',
    type: '`true` or `false`',
    about: 'Replace an event subscription of that name that delivers to something other than a webhook?',
  },
  eventDeliverySchema: {
    ...plainInput,
    resettable: true,
    default: 'CloudEventSchemaV1_0',
    type: '`CloudEventSchemaV1_0` or `EventGridSchema`',
    about: 'Schema in which events are delivered.',
  },
  deliveryAuthentication: {
    ...plainInput,
    default: 'secret',
    type: '`secret`, `entra` or `none`',
    about: 'How a delivery proves that it comes from this event subscription.',
  },
  deliveryToken: {
    ...secretInput,
    otherwise: 'derived from `clientSecret`',
    type: 'list of 1 to 10 strings of 16 to 1024 characters (secret)',
    about: 'What the credential of deliveries is derived from: the first is written, all are accepted.',
  },
  azureEnvironment: {
    ...plainBoth,
    aliases: ['azureCloud'],
    default: 'AzurePublicCloud',
    type: '`AzurePublicCloud`, `AzureChinaCloud` or `AzureUSGovernmentCloud`',
    about: 'The Azure cloud.',
  },
  eventGridClientId: {
    ...plainInput,
    otherwise: 'the one known for the cloud',
    type: 'string',
    about: "Client id of Event Grid's own application, for `deliveryAuthentication: entra`.",
  },
  azureCredential: {
    ...plainBoth,
    default: 'clientSecret',
    type: '`clientSecret`, `managedIdentity`, `workloadIdentity`, `cli` or `default`',
    about: 'How the binding proves to Azure who it is.',
  },
  topicAuthentication: {
    ...plainOutput,
    default: 'accessKey',
    type: '`accessKey` or `entra`',
    about: 'What authorises publishing: the access key, or the credential of `azureCredential`.',
  },
  topicSchema: {
    ...plainOutput,
    default: 'auto',
    type: '`auto`, `CloudEventSchemaV1_0` or `EventGridSchema`',
    about: 'Schema that the topic takes. With `auto` whole events go as they are, and data becomes a CloudEvent.',
  },
  publishTimeout: {
    ...plainOutput,
    default: '60s',
    type: 'duration, 1s to 10m',
    about: 'Longest that `create` tries to publish, with all attempts. Then it is refused as PUBLISH_UNAVAILABLE.',
  },
  listenAddress: {
    ...plainInput,
    otherwise: '`::`, or `0.0.0.0` without IPv6',
    type: 'IP address or host name',
    about: 'Address on which the binding listens; a name means all of its addresses.',
  },
  maxConcurrency: { ...plainInput, default: '256', type: 'integer, 1-10000', about: 'Events handled at once.' },
  maxRequestBytes: {
    ...plainInput,
    default: '4194304',
    type: 'integer, 2097152-67108864',
    about: 'Longest request body that is read, in bytes.',
  },
  handlerTimeout: {
    ...plainInput,
    default: '25s',
    type: 'duration, at most 25s; with `deliveryMode: pull` at most 1h',
    about: "Longest a delivery's handlers may take together.",
  },
  subscriptionTimeout: {
    ...plainInput,
    default: '2m',
    type: 'duration, at most 24h',
    about: 'Longest that `init` waits for the event subscription.',
  },
  provisioning: {
    ...plainInput,
    default: 'manage',
    type: '`manage`, `check` or `none`',
    about:
      'Whether the binding creates and updates the event subscription, only reads and compares it, or asks nobody about it. ' +
      'With `none` `scope` and `eventSubscriptionName` are required, and the fields of the credential are not.',
  },
  deliveryMode: {
    ...plainInput,
    default: 'push',
    type: '`push` or `pull`',
    about: 'Whether Event Grid posts events to the binding, or the binding receives them from a namespace topic.',
  },
  namespaceTopic: {
    ...plainInput,
    type: 'resource id of a namespace topic',
    example:
      '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers/Microsoft.EventGrid/namespaces/NAMESPACE/topics/TOPIC',
    about: 'Pull: the topic whose events are received. Required for pull.',
  },
  namespaceEndpoint: {
    ...input,
    shown: 'url',
    otherwise: 'read from Azure Resource Manager',
    type: 'https URL',
    example: 'https://NAMESPACE.westeurope-1.eventgrid.azure.net',
    about: 'Pull: address of the namespace.',
  },
  namespaceKey: {
    ...secretInput,
    otherwise: 'the Azure credential receives (role EventGrid Data Receiver)',
    type: 'string (secret)',
    about:
      'Pull: access key of the namespace. With `namespaceEndpoint` and without credential fields, nothing else of Azure is asked.',
  },
  lockDuration: {
    ...plainInput,
    otherwise: 'the existing setting; 60s for a new event subscription',
    type: 'duration of whole seconds, 60s to 300s',
    about: 'Pull: how long an event is locked for its handler. The lock is renewed while the handler runs.',
  },
  direction: {
    ...plainBoth,
    otherwise: 'the sides whose fields are present',
    type: '`input`, `output` or `input, output`',
    about: "Dapr's own field: where given, it alone decides which sides are configured.",
  },
} as const satisfies Record<string, Row>
