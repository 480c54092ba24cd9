/** What a topic answers to who publishes. */
import { createHmac } from 'node:crypto'
import { absent, between, type Pattern, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe, probesWith } from '../probe.ts'
import { cloudEvent, gridEvent } from './asking.ts'

const type = 'probe.publish'
const { source: _source, ...withoutSource } = cloudEvent(type)
const { eventType: _type, ...withoutType } = gridEvent(type)

const reported = text(/ Report '[^']+' to our forums for assistance or raise a support ticket\.$/)
const invalid = (message: Pattern) => ({
  ...{ status: 400, body: { error: { code: 'BadRequest', details: [{ code: 'InputJsonInvalid' }], message } } },
})

type Events = unknown | ((world: ProbeWorld) => unknown)

/** What a topic answers to these events. */
const published =
  (topic: 'cloud' | 'grid') =>
  (fact: string, asks: string, events: Events, expected: Pattern, headers?: Readonly<Record<string, string>>) =>
    probe(fact, asks, {
      ask: (world) => world.publish(world.made[topic], typeof events === 'function' ? events(world) : events, headers),
      expected,
    })
const toCloud = published('cloud')
const toGrid = published('grid')

/** A SAS token for a topic, of the form that the SDK for JavaScript makes. */
function sasToken({ endpoint, key }: { readonly endpoint: string; readonly key: string }, now: number): string {
  const resource = encodeURIComponent(`${endpoint}?apiVersion=2018-01-01`)
  const expiry = encodeURIComponent(new Date(now + 3_600_000).toISOString())
  const signed = `r=${resource}&e=${expiry}`
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64')
  return `${signed}&s=${encodeURIComponent(signature)}`
}

/** What a topic answers to a SAS token, without a key, of itself or of another topic. */
const byToken = (
  fact: string,
  asks: string,
  headersOf: (token: string) => Readonly<Record<string, string>>,
  { of = 'cloud', expected = 200 }: { readonly of?: 'cloud' | 'grid'; readonly expected?: number } = {},
) =>
  probe(fact, asks, {
    async ask({ publish, made, clock }) {
      const token = sasToken({ endpoint: made[of].endpoint, key: made.cloud.key }, clock.now())
      return (await publish(made.cloud, [cloudEvent(type)], { 'aeg-sas-key': '', ...headersOf(token) })).status
    },
    expected,
  })

/** What the host of the topic answers at another URL. */
const askHost = ({ send, made: { cloud } }: ProbeWorld, url: string) => {
  const headers = { 'aeg-sas-key': cloud.key }
  return send({
    asked: 'topic',
    of: cloud.name,
    method: 'POST',
    url: `${url}?api-version=2018-01-01`,
    headers,
    body: [],
  })
}

export const publishingProbes: readonly Probe[] = [
  toCloud('publish-success', 'a batch of CloudEvents', [cloudEvent(type)], {
    ...{ status: 200, body: '', headers: { 'api-supported-versions': '2018-01-01' } },
  }),
  toGrid('publish-json', 'a list of Event Grid events', [gridEvent(type)], { status: 200, body: '' }),
  toCloud(
    'publish-one-cloud-event',
    'one CloudEvent',
    cloudEvent(type),
    { status: 200 },
    { 'content-type': 'application/cloudevents+json' },
  ),
  toCloud(
    'publish-base64',
    'a CloudEvent with binary data',
    [cloudEvent(type, { data: undefined, data_base64: 'AQID' })],
    { status: 200 },
  ),
  toGrid('publish-grid-fields', 'an Event Grid event without its type', [withoutType], invalid(reported)),
  toCloud('publish-cloud-fields', 'a CloudEvent without its source', [withoutSource], { status: 400 }),
  toCloud('publish-cloud-fields', 'a CloudEvent of specversion 0.3', [cloudEvent(type, { specversion: '0.3' })], {
    status: 400,
  }),
  toGrid('publish-metadata-version', 'a metadataVersion of 2', [gridEvent(type, { metadataVersion: '2' })], {
    status: 400,
  }),
  toGrid(
    'publish-other-topic',
    'the topic of somebody else',
    ({ made }: ProbeWorld) => [gridEvent(type, { topic: made.cloud.id })],
    { status: between(400, 403) },
  ),
  toGrid(
    'publish-unknown-field',
    'an unknown field',
    [gridEvent(type, { colour: 'red' })],
    invalid(text(/Received unexpected property 'colour'/)),
  ),
  toGrid('publish-not-array', 'an object where an array must be', gridEvent(type), {
    status: 400,
    body: { error: { message: text(/Expected: StartArray/) } },
  }),
  toCloud(
    'publish-wrong-key',
    'a wrong key',
    [cloudEvent(type)],
    { status: 401, body: { error: { message: text(/^The request authorization key is not authorized for /) } } },
    { 'aeg-sas-key': Buffer.alloc(32, 9).toString('base64') },
  ),
  toCloud(
    'publish-too-large',
    'a request of 1.6 MB',
    Array.from({ length: 8 }, (_, at) => cloudEvent(type, { id: `${at}`, data: 'x'.repeat(200_000) })),
    { status: 413, body: { error: { message: text(/^The maximum size \(1536000\) has been exceeded/) } } },
  ),
  toCloud('publish-limits', 'an event of 1.1 MB', [cloudEvent(type, { data: 'x'.repeat(1_100_000) })], { status: 413 }),
  probe('publish-key', 'the key in the query', {
    async ask({ send, made: { cloud } }) {
      const url = `${cloud.endpoint}?api-version=2018-01-01&aeg-sas-key=${encodeURIComponent(cloud.key)}`
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      const body = JSON.stringify([cloudEvent(type)])
      return (await send({ asked: 'topic', of: cloud.name, otherCredential: true, method: 'POST', url, headers, body }))
        .status
    },
    expected: 200,
  }),
  byToken('publish-sas', 'a SAS token in aeg-sas-token', (token) => ({ 'aeg-sas-token': token })),
  byToken('publish-sas-authorization', 'a SAS token in Authorization', (token) => ({
    authorization: `SharedAccessSignature ${token}`,
  })),
  byToken('sas-other-resource', 'a SAS token for another topic', (token) => ({ 'aeg-sas-token': token }), {
    ...{ of: 'grid', expected: 401 },
  }),
  probe('publish-wrong-path', 'a wrong path at the host of a topic', {
    ask: (world) => askHost(world, world.made.cloud.endpoint.replace(/\/api\/events$/, '/api/wrong')),
    expected: {
      status: 404,
      body: { error: { message: text(/^No HTTP resource was found that matches the request URI/) } },
    },
  }),
  probesWith('own region in the host')('publish-wrong-path', 'the host of a topic with another region', {
    ask(world) {
      const { cloud, place } = world.made
      const other = place.location === 'northeurope' ? 'westeurope' : 'northeurope'
      return askHost(world, cloud.endpoint.replace(`.${place.location}-`, `.${other}-`))
    },
    expected: { status: 404 },
  }),
  probe('domain-event-refused', 'a CloudEvent of a domain whose source is a URL', {
    ask: ({ publish, made }) => publish(made.domain, [cloudEvent(type, { source: 'https://nobody.invalid/orders' })]),
    expected: {
      status: 400,
      body: {
        error: {
          details: [{ code: 'InputJsonInvalid' }],
          message: text(
            /needs to either be a full resource id or should be just the name of the domain topic\. Found: /,
          ),
        },
      },
    },
  }),
  probe('domain-event-refused', 'a CloudEvent of a domain without a source', {
    ask: ({ publish, made }) => publish(made.domain, [withoutSource]),
    expected: { status: 400, headers: { location: absent } },
  }),
]
