/** What a topic answers to who publishes. */
import { createHmac } from 'node:crypto'
import { absent, between, type Pattern, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudEvent, gridEvent } from './asking.ts'

const reported = text(/ Report '[^']+' to our forums for assistance or raise a support ticket\.$/)
const invalid = { status: 400, body: { error: { code: 'BadRequest', details: [{ code: 'InputJsonInvalid' }] } } }

interface Case {
  readonly fact: string
  readonly asks: string
  readonly topic: 'cloud' | 'grid'
  readonly events: unknown | ((world: ProbeWorld) => unknown)
  readonly headers?: Readonly<Record<string, string>>
  readonly expected: Pattern
}

const { source: _source, ...withoutSource } = cloudEvent('probe.publish')
const { eventType: _type, ...withoutType } = gridEvent('probe.publish')

const cases: readonly Case[] = [
  {
    ...{
      fact: 'publish-success',
      asks: 'a batch of CloudEvents',
      topic: 'cloud',
      events: [cloudEvent('probe.publish')],
    },
    expected: { status: 200, body: '', headers: { 'api-supported-versions': '2018-01-01' } },
  },
  {
    ...{
      fact: 'publish-json',
      asks: 'a list of Event Grid events',
      topic: 'grid',
      events: [gridEvent('probe.publish')],
    },
    expected: { status: 200, body: '' },
  },
  {
    ...{ fact: 'publish-one-cloud-event', asks: 'one CloudEvent', topic: 'cloud', events: cloudEvent('probe.publish') },
    headers: { 'content-type': 'application/cloudevents+json' },
    expected: { status: 200 },
  },
  {
    ...{ fact: 'publish-base64', asks: 'a CloudEvent with binary data', topic: 'cloud' },
    events: [cloudEvent('probe.publish', { data: undefined, data_base64: 'AQID' })],
    expected: { status: 200 },
  },
  {
    ...{
      fact: 'publish-grid-fields',
      asks: 'an Event Grid event without its type',
      topic: 'grid',
      events: [withoutType],
    },
    expected: { ...invalid, body: { error: { ...invalid.body.error, message: reported } } },
  },
  {
    ...{
      fact: 'publish-cloud-fields',
      asks: 'a CloudEvent without its source',
      topic: 'cloud',
      events: [withoutSource],
    },
    expected: { status: 400 },
  },
  {
    ...{ fact: 'publish-cloud-fields', asks: 'a CloudEvent of specversion 0.3', topic: 'cloud' },
    events: [cloudEvent('probe.publish', { specversion: '0.3' })],
    expected: { status: 400 },
  },
  {
    ...{ fact: 'publish-metadata-version', asks: 'a metadataVersion of 2', topic: 'grid' },
    events: [gridEvent('probe.publish', { metadataVersion: '2' })],
    expected: { status: 400 },
  },
  {
    ...{ fact: 'publish-other-topic', asks: 'the topic of somebody else', topic: 'grid' },
    events: ({ made }: ProbeWorld) => [gridEvent('probe.publish', { topic: made.cloud.id })],
    expected: { status: between(400, 403) },
  },
  {
    ...{
      fact: 'publish-unknown-field',
      asks: 'an unknown field',
      topic: 'grid',
      events: [gridEvent('probe.publish', { colour: 'red' })],
    },
    expected: {
      ...invalid,
      body: { error: { ...invalid.body.error, message: text(/Received unexpected property 'colour'/) } },
    },
  },
  {
    ...{
      fact: 'publish-not-array',
      asks: 'an object where an array must be',
      topic: 'grid',
      events: gridEvent('probe.publish'),
    },
    expected: { status: 400, body: { error: { message: text(/Expected: StartArray/) } } },
  },
  {
    ...{ fact: 'publish-wrong-key', asks: 'a wrong key', topic: 'cloud', events: [cloudEvent('probe.publish')] },
    headers: { 'aeg-sas-key': Buffer.alloc(32, 9).toString('base64') },
    expected: {
      status: 401,
      body: { error: { message: text(/^The request authorization key is not authorized for /) } },
    },
  },
  {
    ...{ fact: 'publish-too-large', asks: 'a request of 1.6 MB', topic: 'cloud' },
    events: Array.from({ length: 8 }, (_, at) =>
      cloudEvent('probe.publish', { id: `${at}`, data: 'x'.repeat(200_000) }),
    ),
    expected: { status: 413, body: { error: { message: text(/^The maximum size \(1536000\) has been exceeded/) } } },
  },
  {
    ...{
      fact: 'publish-limits',
      asks: 'an event of 1.1 MB',
      topic: 'cloud',
      events: [cloudEvent('probe.publish', { data: 'x'.repeat(1_100_000) })],
    },
    expected: { status: 413 },
  },
]

/** A SAS token for a topic, of the form that the SDK for JavaScript makes. */
function sasToken({ endpoint, key }: { readonly endpoint: string; readonly key: string }, now: number): string {
  const resource = encodeURIComponent(`${endpoint}?apiVersion=2018-01-01`)
  const expiry = encodeURIComponent(new Date(now + 3_600_000).toISOString())
  const signed = `r=${resource}&e=${expiry}`
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest('base64')
  return `${signed}&s=${encodeURIComponent(signature)}`
}

const withoutKey = { 'aeg-sas-key': '' }

export const publishingProbes: readonly Probe[] = [
  ...cases.map(({ fact, asks, topic, events, headers, expected }) =>
    probe({
      ...{ fact, asks, expected },
      async ask(world) {
        return world.publish(world.made[topic], typeof events === 'function' ? events(world) : events, headers)
      },
    }),
  ),
  probe({
    fact: 'publish-key',
    asks: 'the key in the query',
    async ask({ send, made: { cloud } }) {
      const url = `${cloud.endpoint}?api-version=2018-01-01&aeg-sas-key=${encodeURIComponent(cloud.key)}`
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      const body = JSON.stringify([cloudEvent('probe.publish')])
      return (await send({ asked: 'topic', of: cloud.name, otherCredential: true, method: 'POST', url, headers, body }))
        .status
    },
    expected: 200,
  }),
  probe({
    fact: 'publish-sas',
    asks: 'a SAS token in aeg-sas-token',
    async ask({ publish, made, clock }) {
      const token = sasToken(made.cloud, clock.now())
      return (await publish(made.cloud, [cloudEvent('probe.publish')], { ...withoutKey, 'aeg-sas-token': token }))
        .status
    },
    expected: 200,
  }),
  probe({
    fact: 'publish-sas-authorization',
    asks: 'a SAS token in Authorization',
    async ask({ publish, made, clock }) {
      const authorization = `SharedAccessSignature ${sasToken(made.cloud, clock.now())}`
      return (await publish(made.cloud, [cloudEvent('probe.publish')], { ...withoutKey, authorization })).status
    },
    expected: 200,
  }),
  probe({
    fact: 'sas-other-resource',
    asks: 'a SAS token for another topic',
    async ask({ publish, made, clock }) {
      const token = sasToken({ endpoint: made.grid.endpoint, key: made.cloud.key }, clock.now())
      return (await publish(made.cloud, [cloudEvent('probe.publish')], { ...withoutKey, 'aeg-sas-token': token }))
        .status
    },
    expected: 401,
  }),
  probe({
    fact: 'publish-wrong-path',
    asks: 'a wrong path at the host of a topic',
    async ask({ send, made: { cloud } }) {
      const url = `${cloud.endpoint.replace(/\/api\/events$/, '/api/wrong')}?api-version=2018-01-01`
      const { status, body } = await send({
        asked: 'topic',
        of: cloud.name,
        method: 'POST',
        url,
        headers: { 'aeg-sas-key': cloud.key },
        body: [],
      })
      return { status, body }
    },
    expected: {
      status: 404,
      body: { error: { message: text(/^No HTTP resource was found that matches the request URI/) } },
    },
  }),
  probe({
    fact: 'publish-wrong-path',
    asks: 'the host of a topic with another region',
    needs: ['own region in the host'],
    async ask({ send, made: { cloud, place } }) {
      const other = place.location === 'northeurope' ? 'westeurope' : 'northeurope'
      const url = `${cloud.endpoint.replace(`.${place.location}-`, `.${other}-`)}?api-version=2018-01-01`
      return (
        await send({
          asked: 'topic',
          of: cloud.name,
          method: 'POST',
          url,
          headers: { 'aeg-sas-key': cloud.key },
          body: [],
        })
      ).status
    },
    expected: 404,
  }),
  probe({
    fact: 'domain-event-refused',
    asks: 'a CloudEvent of a domain whose source is a URL',
    async ask({ publish, made }) {
      const event = cloudEvent('probe.publish', { source: 'https://nobody.invalid/orders' })
      const { status, body } = await publish(made.domain, [event])
      return { status, body }
    },
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
  probe({
    fact: 'domain-event-refused',
    asks: 'a CloudEvent of a domain without a source',
    async ask({ publish, made }) {
      const { status, headers } = await publish(made.domain, [withoutSource])
      return { status, headers }
    },
    expected: { status: 400, headers: { location: absent } },
  }),
]
