/** Each metadata field, declared once, with all that is known of the field. */

import {
  azureEnvironmentNames,
  otherEnvironmentNames,
  parseAzureEnvironment,
  parseNamespaceEndpoint,
  parseSubscriberEndpoint,
  parseTopicEndpoint,
} from './addresses.ts'
import { choice, field, withDefault } from './field.ts'
import * as needs from './needs.ts'
import * as rules from './rules.ts'
import { parseNamespaceTopic, parsePullName, parseScope, parseSubscriptionName } from './scope.ts'
import { settingFields } from './subscription-settings.ts'

const input = { readers: ['push', 'pull'], shown: 'plain' } as const
const push = { readers: ['push'], shown: 'plain' } as const
const pull = { readers: ['pull'], shown: 'plain' } as const
const output = { readers: ['output'], shown: 'plain' } as const
const both = { readers: ['push', 'pull', 'output'], shown: 'plain' } as const
const secret = { secret: true, shown: 'redacted', type: 'string (secret)', parse: rules.parseSecret } as const
const url = { shown: 'url', type: 'https URL' } as const

const idExample = '00000000-0000-0000-0000-000000000000'
const groupExample = '/subscriptions/SUBSCRIPTION/resourceGroups/GROUP/providers'
const eventSchemas = ['CloudEventSchemaV1_0', 'EventGridSchema'] as const

/** The fields, in the order in which they are documented. */
export const fields = {
  // The specification's table 2.2, in its order.
  tenantId: field({
    ...input,
    aliases: ['azureTenantId'],
    needed: needs.ofTokens,
    type: 'string: an id or a domain name',
    example: 'contoso.onmicrosoft.com',
    about:
      'Tenant in which the event subscription is created. The output reads it too with `topicAuthentication: entra`.',
    parse: rules.parseTenantId,
  }),
  subscriptionId: field({
    ...input,
    ...rules.id,
    aliases: ['azureSubscriptionId'],
    needed: needs.byPushThatAsks,
    example: idExample,
    about: 'Cloud subscription in which the event subscription is created.',
  }),
  clientId: field({
    ...input,
    ...rules.id,
    aliases: ['azureClientId'],
    needed: needs.ofTokens,
    example: idExample,
    about:
      'Client that creates or updates the event subscription. The output reads it too with `topicAuthentication: entra`.',
  }),
  clientSecret: field({
    ...input,
    ...secret,
    aliases: ['azureClientSecret'],
    needed: needs.ofSecret,
    about: 'Secret of that client. The output reads it too with `topicAuthentication: entra`.',
  }),
  subscriberEndpoint: field({
    ...push,
    ...url,
    needed: needs.byPush,
    type: 'https URL; without a path, `/api/events`',
    example: 'https://orders.example.com/api/events',
    about: 'Public HTTPS endpoint at which Event Grid performs the handshake and delivers events.',
    parse: parseSubscriberEndpoint,
  }),
  handshakePort: field({
    ...push,
    needed: needs.byPush,
    type: 'string holding a port number, 1-65535',
    example: '8080',
    about: 'Container port on which the binding listens for handshakes and events. `"0"` takes a free one, for tests.',
    parse: rules.parsePort,
  }),
  scope: field({
    ...input,
    needed: needs.byPush,
    type: 'resource id path',
    example: `${groupExample}/Microsoft.EventGrid/topics/TOPIC`,
    about: 'Resource for which the event subscription is created or updated.',
    parse: parseScope,
  }),
  eventSubscriptionName: field({
    ...input,
    needed: needs.byInputThatDoesNotAsk,
    otherwise: 'made from the name of the component',
    type: '3 to 64 letters and digits; with `deliveryMode: pull` at most 50; hyphens in what exists already',
    stricter: { pull: parsePullName },
    about: 'Name of the event subscription.',
    parse: parseSubscriptionName,
  }),
  accessKey: field({
    ...output,
    ...secret,
    needed: needs.byOutputWithKey,
    about: 'Access key for publishing to the custom topic.',
    parse: rules.parseKey,
  }),
  topicEndpoint: field({
    ...output,
    ...url,
    needed: needs.byOutput,
    type: 'https URL; http for loopback only',
    example: 'https://TOPIC.westeurope-1.eventgrid.azure.net/api/events',
    about: 'Endpoint of the custom topic to which events are published.',
    parse: parseTopicEndpoint,
  }),
  // Optional additions.
  ...settingFields,
  replaceDestination: withDefault({
    ...input,
    default: 'false',
    choices: ['true', 'false'],
    about: 'Whether to replace an event subscription of that name that does not deliver to a webhook.',
    parse: (text) => rules.parseChoice(text, ['true', 'false']) === 'true',
  }),
  eventDeliverySchema: withDefault({
    ...input,
    default: 'CloudEventSchemaV1_0',
    choices: eventSchemas,
    otherChoices: ['default'],
    stricter: { pull: rules.onlyCloudEvents },
    about: 'Schema in which events are delivered.',
    parse: (text) =>
      text.toLowerCase() === 'default' ? 'CloudEventSchemaV1_0' : rules.parseChoice(text, eventSchemas),
  }),
  deliveryAuthentication: choice(needs.deliveryAuthentications, {
    ...push,
    decides: true,
    about: 'How a delivery proves that it comes from this event subscription.',
  }),
  deliveryToken: field({
    ...push,
    ...secret,
    needed: needs.ofDeliveries,
    otherwise: 'derived from `clientSecret`',
    type: 'list of 1 to 10 strings of 16 to 1024 characters (secret)',
    about: 'The credential of deliveries is derived from it. The first token is written into Azure, all are accepted.',
    parse: rules.parseDeliveryTokens,
  }),
  azureEnvironment: withDefault({
    ...both,
    default: 'AzurePublicCloud',
    aliases: ['azureCloud'],
    choices: azureEnvironmentNames,
    otherChoices: otherEnvironmentNames,
    about: 'The Azure cloud. `AzureCloud`, `AzurePublic`, `AzureChina` and `AzureUSGovernment` are taken too.',
    parse: parseAzureEnvironment,
  }),
  eventGridClientId: field({
    ...push,
    ...rules.id,
    otherwise: 'the one known for the cloud',
    about: "Client id of Event Grid's own application, for `deliveryAuthentication: entra`.",
  }),
  azureCredential: choice(needs.credentialKinds, {
    ...both,
    decides: true,
    about: 'How the binding proves to Azure who it is.',
  }),
  topicAuthentication: choice(needs.topicAuthentications, {
    ...output,
    decides: true,
    about: 'What authorises publishing: the access key, or the credential of `azureCredential`.',
  }),
  topicSchema: choice(['auto', ...eventSchemas], {
    ...output,
    about: 'Schema that the topic takes. With `auto` whole events go as they are, and data becomes a CloudEvent.',
  }),
  publishTimeout: withDefault({
    ...output,
    default: '60s',
    type: 'duration, 1s to 10m',
    about: 'Longest time that `create` tries to publish, with all attempts. Then it fails with PUBLISH_UNAVAILABLE.',
    parse: rules.duration('1s', '10m'),
  }),
  listenAddress: field({
    ...push,
    otherwise: '`::`, or `0.0.0.0` without IPv6',
    type: 'IP address',
    about: 'Address on which the binding listens.',
    parse: rules.parseListenAddress,
  }),
  maxConcurrency: withDefault({
    ...input,
    ...rules.integer(1, 10_000),
    default: '256',
    about: 'Events handled at once.',
  }),
  maxRequestBytes: withDefault({
    ...push,
    ...rules.integer(2_097_152, 67_108_864),
    default: '4194304',
    about: 'Largest request body that the binding reads, in bytes.',
  }),
  handlerTimeout: withDefault({
    ...input,
    default: '25s',
    type: 'duration, at most 25s; with `deliveryMode: pull` at most 1h',
    stricter: { push: rules.duration('1ms', '25s') },
    about: 'Longest time that the handlers of one delivery may take together.',
    parse: rules.duration('1ms', '1h'),
  }),
  subscriptionTimeout: withDefault({
    ...input,
    default: '2m',
    type: 'duration, at most 24h',
    about: 'Longest time that `init` waits for the event subscription.',
    parse: rules.duration('1ms', '24h'),
  }),
  provisioning: choice(needs.provisionings, {
    ...input,
    decides: true,
    about:
      'Whether the binding creates and updates the event subscription, only reads and compares it, or makes no request for it. ' +
      'With `none`, set `scope` and `eventSubscriptionName`; the fields of the credential are optional.',
  }),
  deliveryMode: choice(needs.deliveryModes, {
    ...input,
    decides: true,
    about: 'Whether Event Grid posts events to the binding, or the binding receives them from a namespace topic.',
  }),
  namespaceTopic: field({
    ...pull,
    needed: needs.byPull,
    type: 'resource id of a namespace topic',
    example: `${groupExample}/Microsoft.EventGrid/namespaces/NAMESPACE/topics/TOPIC`,
    about: 'The topic to receive events from. Required for pull.',
    parse: parseNamespaceTopic,
  }),
  namespaceEndpoint: field({
    ...pull,
    ...url,
    needed: needs.byPullThatDoesNotAsk,
    otherwise: 'read from Azure Resource Manager',
    example: 'https://NAMESPACE.westeurope-1.eventgrid.azure.net',
    about: 'Address of the namespace.',
    parse: parseNamespaceEndpoint,
  }),
  namespaceKey: field({
    ...pull,
    ...secret,
    otherwise: 'the Azure credential receives (role EventGrid Data Receiver)',
    about:
      'Access key of the namespace. With `namespaceEndpoint` and without credential fields, the binding calls nothing else in Azure.',
    parse: rules.parseKey,
  }),
  lockDuration: field({
    ...pull,
    otherwise: 'the existing setting; 60s for a new event subscription',
    type: 'duration of whole seconds, 60s to 300s',
    about: 'How long an event is locked for its handler. The lock is renewed while the handler runs.',
    parse: rules.parseLockDuration,
  }),
  direction: field({
    ...both,
    decides: true,
    otherwise: 'the sides that have fields',
    type: '`input`, `output` or `input, output`',
    about: "Dapr's own field: the sides that are on, whatever other fields are present.",
    parse: rules.parseDirection,
  }),
}
