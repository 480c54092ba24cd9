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

const grid = { sent: 'EventGridSchema' } as const
const cloud = { sent: 'CloudEventSchemaV1_0' } as const
const ofNamespace = { topicEndpoint: namespace }
const wrong = 'PUBLISH_REJECTED'

interface Row extends Partial<TopicRefusal> {
  readonly name: string
  readonly status: TopicRefusal['status']
  readonly output?: Partial<TopicRefusalContext['output']>
  readonly sent?: 'CloudEventSchemaV1_0' | 'EventGridSchema'
  readonly code: string
  readonly says: string
}

it.each<Row>([
  { name: 'too much', status: 413, code: 'PAYLOAD_TOO_LARGE', says: 'in one call$' },
  { name: 'too much for a proxy', status: 413, isForeign: true, code: 'PAYLOAD_TOO_LARGE', says: 'of a proxy' },
  {
    ...{ name: 'too much for a namespace topic', status: 403, message: 'Payload is Too Large' },
    ...{ code: 'PAYLOAD_TOO_LARGE', says: 'smaller' },
  },
  { name: 'no right of a key', status: 403, code: 'PERMISSION_DENIED', says: '^let the topic.*machine$' },
  {
    ...{ name: 'no role', status: 403, output: { authentication: entra }, code: 'PERMISSION_DENIED' },
    says: `; assign the role.*--assignee c1 --role "EventGrid Data Sender" --scope ${lookUp('orders', 'topics', 'id')}$`,
  },
  {
    ...{ name: "no role of a host's credential for a namespace", status: 401, message: 'local auth' },
    ...{ output: { ...ofNamespace, authentication: ofHost }, code: 'PERMISSION_DENIED' },
    says: '--assignee <clientId> .* --name shop --resource-type Microsoft.EventGrid/namespaces ',
  },
  { name: 'no keys', status: 401, message: 'LocalAuth is off', code: 'CREDENTIALS_REJECTED', says: 'takes no keys' },
  {
    ...{ name: 'a topic of the event', status: 401, message: 'the topic of the event', ...grid },
    ...{ code: wrong, says: 'leave topic out' },
  },
  {
    ...{ name: 'a key, in words about topics', status: 401, message: 'topics', ...grid, code: 'CREDENTIALS_REJECTED' },
    says: `of this topic:\naz eventgrid topic key list --name orders ${groupOf('orders', 'topics')}$`,
  },
  {
    ...{ name: 'a key, where CloudEvents were sent', status: 401, message: 'the topic', output: ofNamespace, ...cloud },
    code: 'CREDENTIALS_REJECTED',
    says: `of this namespace:\naz eventgrid namespace list-key --name shop ${groupOf('shop', 'namespaces')}$`,
  },
  {
    ...{ name: 'a key of a topic whose name is not told', status: 401, code: 'CREDENTIALS_REJECTED' },
    ...{ output: { topicEndpoint: 'https://x.example.com/' }, says: '--name <topic> ' },
  },
  { name: 'no such topic', status: 404, code: wrong, says: ownEndpoint },
  {
    ...{ name: 'no such topic of a namespace', status: 410, output: ofNamespace },
    ...{ code: wrong, says: '^the namespace has no such topic' },
  },
  { name: 'a wrong event', status: 400, code: wrong, says: '^correct the event' },
  { name: 'by a proxy', status: 400, isForeign: true, code: wrong, says: 'no proxy answers' },
  { name: 'by a redirect', status: 307, code: wrong, says: 'no proxy answers' },
  { name: 'too many', status: 429, code: 'PUBLISH_UNAVAILABLE', says: 'more slowly' },
  { name: 'too late', status: 408, code: 'PUBLISH_UNAVAILABLE', says: 'publish again later' },
  { name: 'in a fault of its own', status: 500, code: 'PUBLISH_UNAVAILABLE', says: 'publish again later' },
])('a topic refuses $name', ({ status, message = '', isForeign = false, output, sent, code, says }) => {
  const meaning = explainTopicRefusal(
    { status, message, isForeign },
    { output: { topicEndpoint: custom, authentication: key, ...output }, ...(sent && { sent }) },
  )
  expect(meaning).toEqual({ code, fix: expect.stringMatching(new RegExp(says, 's')) })
})
