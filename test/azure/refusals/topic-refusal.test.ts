import { expect, it } from 'vitest'
import {
  explainTopicRefusal,
  type TopicRefusal,
  type TopicRefusalContext,
} from '../../../src/azure/refusals/topic-refusal.ts'
import { Secret } from '../../../src/core/secret.ts'

const custom = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'
const namespace = 'https://shop.westeurope-1.eventgrid.azure.net/topics/orders:publish'
const key = { kind: 'accessKey', accessKey: new Secret('a2V5') } as const
const entra = { kind: 'entra', credential: { kind: 'managedIdentity', clientId: 'c1' } } as const
const ofHost = { kind: 'entra', credential: { kind: 'host' } } as const
const lookUp = (name: string, type: string, field: string) =>
  `"\\$\\(az resource list --name ${name} --resource-type Microsoft.EventGrid/${type} --query '\\[0\\].${field}' --output tsv\\)"`
const groupOf = (name: string, type: string) => `--resource-group ${lookUp(name, type, 'resourceGroup')}`
const ownEndpoint =
  '^set topicEndpoint.*own; that of a namespace topic is https://orders.*.net/topics/<topic>:publish:\\n' +
  'az eventgrid topic list --query "\\[\\?name==\'orders\'\\].endpoint" --output tsv$'
const takes = (schema: string) => `This resource is configured for '${schema}' schema.`

it.each<{
  name: string
  refusal: Partial<TopicRefusal> & Pick<TopicRefusal, 'status'>
  output?: Partial<TopicRefusalContext['output']>
  sent?: 'CloudEventSchemaV1_0' | 'EventGridSchema'
  code: string
  says: string
}>([
  { name: 'too much', refusal: { status: 413 }, code: 'PAYLOAD_TOO_LARGE', says: 'in one call$' },
  {
    name: 'too much for a proxy',
    refusal: { status: 413, isForeign: true },
    code: 'PAYLOAD_TOO_LARGE',
    says: 'of a proxy',
  },
  {
    name: 'too much for a namespace topic',
    ...{ refusal: { status: 403, message: 'Payload is Too Large' }, code: 'PAYLOAD_TOO_LARGE', says: 'smaller' },
  },
  { name: 'no right of a key', refusal: { status: 403 }, code: 'PERMISSION_DENIED', says: '^let the topic.*machine$' },
  {
    name: 'no role',
    ...{ refusal: { status: 403 }, output: { authentication: entra }, code: 'PERMISSION_DENIED' },
    says: `; assign the role.*--assignee c1 --role "EventGrid Data Sender" --scope ${lookUp('orders', 'topics', 'id')}$`,
  },
  {
    name: "no role of a host's credential for a namespace",
    refusal: { status: 401, message: 'local auth' },
    output: { authentication: ofHost, topicEndpoint: namespace },
    code: 'PERMISSION_DENIED',
    says: '--assignee <clientId> .* --name shop --resource-type Microsoft.EventGrid/namespaces ',
  },
  {
    name: 'no keys',
    refusal: { status: 401, message: 'LocalAuth is off' },
    code: 'CREDENTIALS_REJECTED',
    says: 'takes no keys',
  },
  {
    name: 'a topic of the event',
    ...{ refusal: { status: 401, message: 'the topic of the event' }, sent: 'EventGridSchema' },
    ...{ code: 'PUBLISH_REJECTED', says: 'leave topic out' },
  },
  {
    name: 'a key, in words about topics',
    ...{ refusal: { status: 401, message: 'topics' }, sent: 'EventGridSchema' },
    code: 'CREDENTIALS_REJECTED',
    says: `of this topic:\naz eventgrid topic key list --name orders ${groupOf('orders', 'topics')}$`,
  },
  {
    name: 'a key, where CloudEvents were sent',
    ...{ refusal: { status: 401, message: 'the topic' }, sent: 'CloudEventSchemaV1_0' },
    ...{ output: { topicEndpoint: namespace }, code: 'CREDENTIALS_REJECTED' },
    says: `of this namespace:\naz eventgrid namespace list-key --name shop ${groupOf('shop', 'namespaces')}$`,
  },
  {
    name: 'a key of a topic whose name is not told',
    ...{ refusal: { status: 401 }, output: { topicEndpoint: 'https://x.example.com/' } },
    ...{ code: 'CREDENTIALS_REJECTED', says: '--name <topic> ' },
  },
  { name: 'no such topic', refusal: { status: 404 }, code: 'PUBLISH_REJECTED', says: ownEndpoint },
  {
    name: 'no such topic of a namespace',
    ...{ refusal: { status: 410 }, output: { topicEndpoint: namespace }, code: 'PUBLISH_REJECTED' },
    says: '^the namespace has no such topic',
  },
  { name: 'a wrong event', refusal: { status: 400 }, code: 'PUBLISH_REJECTED', says: '^correct the event' },
  {
    name: 'a wrong event, of a schema that is not known',
    ...{ refusal: { status: 400, message: takes('CustomEvent') }, sent: 'EventGridSchema' },
    ...{ code: 'PUBLISH_REJECTED', says: '^correct the event' },
  },
  {
    name: 'a wrong event, of the schema that it takes',
    ...{ refusal: { status: 400, message: takes('EventGridEvent') }, sent: 'EventGridSchema' },
    ...{ code: 'PUBLISH_REJECTED', says: '^correct the event' },
  },
  {
    name: 'CloudEvents',
    ...{ refusal: { status: 400, message: takes('EventGridEvent') }, sent: 'CloudEventSchemaV1_0' },
    ...{
      code: 'PUBLISH_REJECTED',
      says: '^this topic takes Event Grid events.*: set topicSchema to EventGridSchema, and',
    },
  },
  {
    name: 'CloudEvents, though the schema is set',
    ...{ refusal: { status: 400, message: takes('EventGridEvent') }, sent: 'CloudEventSchemaV1_0' },
    ...{ output: { topicSchema: 'EventGridSchema' }, code: 'PUBLISH_REJECTED', says: ': publish data alone or { id' },
  },
  {
    name: 'Event Grid events, for it takes what data becomes',
    ...{ refusal: { status: 400, message: takes('CloudEventV10') }, sent: 'EventGridSchema' },
    ...{ code: 'PUBLISH_REJECTED', says: '^this topic takes CloudEvents.*: publish data alone or { specversion' },
  },
  { name: 'by a proxy', refusal: { status: 400, isForeign: true }, code: 'PUBLISH_REJECTED', says: 'no proxy answers' },
  { name: 'by a redirect', refusal: { status: 307 }, code: 'PUBLISH_REJECTED', says: 'no proxy answers' },
  { name: 'too many', refusal: { status: 429 }, code: 'PUBLISH_UNAVAILABLE', says: 'more slowly' },
  { name: 'too late', refusal: { status: 408 }, code: 'PUBLISH_UNAVAILABLE', says: 'publish again later' },
  { name: 'in a fault of its own', refusal: { status: 500 }, code: 'PUBLISH_UNAVAILABLE', says: 'publish again later' },
])('a topic refuses $name', ({ refusal, output, sent, code, says }) => {
  const meaning = explainTopicRefusal(
    { message: '', isForeign: false, ...refusal },
    { output: { topicEndpoint: custom, authentication: key, topicSchema: 'auto', ...output }, ...(sent && { sent }) },
  )
  expect(meaning).toEqual({ code, fix: expect.stringMatching(new RegExp(says, 's')) })
})
