/** Handshakes: what Event Grid asks a webhook, and which answers it takes. They need a public URL. */
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { consent, type PushAnswer, type PushCall, validationOf } from '../../push/listener.ts'
import { absent, oneOf, type Pattern, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probesWith } from '../probe.ts'
import { cloudSchema, gridSchema, loudNameOf, propertiesOf, putSubscription, stateOf, webhookAt } from './asking.ts'

type Schema = typeof cloudSchema | typeof gridSchema

const sourceOf = ({ made }: ProbeWorld, schema: Schema) => (schema === cloudSchema ? made.cloud.id : made.grid.id)

/** Makes an event subscription with a webhook that answers the handshake so, and waits for its end. */
async function shakeHands(world: ProbeWorld, schema: Schema, handshake: (call: PushCall) => PushAnswer = consent) {
  const endpoint = world.openPush({ handshake })
  const properties = { destination: webhookAt(endpoint.url), eventDeliverySchema: schema }
  const written = await putSubscription(world, properties, { source: sourceOf(world, schema), limitMs: 5 * 60_000 })
  return { ...written, endpoint, state: await stateOf(world, written.id) }
}

const seenOf = (call: PushCall | undefined) =>
  call && { method: call.method, url: call.url, headers: call.headers, text: call.text, event: eventOf(call.body) }
const eventOf = (body: unknown): unknown => (Array.isArray(body) && body.length === 1 ? body[0] : body)

/** Answers without consent, and asks for the callback's URL later, as a person would. */
async function validateByHand(world: ProbeWorld, schema: Schema) {
  const { arm, subscriptionAt, openPush, send, until, target } = world
  const endpoint = openPush({ handshake: () => ({ status: 200 }) })
  const id = subscriptionAt(sourceOf(world, schema))
  const body = { properties: { destination: webhookAt(endpoint.url), eventDeliverySchema: schema } }
  const first = await arm.send('PUT', id, { body })
  const waits = await until(120_000, async () => {
    const state = await stateOf(world, id)
    return state === 'AwaitingManualAction' || state === 'Failed' ? state : undefined
  })
  const { pathname, search } = new URL(first.headers['azure-asyncoperation'] ?? target.resourceManager)
  const { body: operation } = await arm.send('GET', `${pathname}${search}`)
  const [call] = endpoint.handshakes
  const url = call?.headers['webhook-request-callback'] ?? validationOf(call?.body)?.validationUrl
  // The port 553 is closed on some networks: then this is the answer that does not come.
  const validated = typeof url === 'string' ? await send({ asked: 'storage', method: 'GET', url }) : undefined
  const { end } = await arm.finish(first, 5 * 60_000)
  return { waits, operation, answered: validated?.status, end, state: await stateOf(world, id) }
}

const pushed = probesWith('push')

/** How a handshake ends that is answered so. */
const answered = (
  fact: string,
  asks: string,
  schema: Schema,
  end: 'Succeeded' | 'Failed',
  answer: (call: PushCall) => PushAnswer,
) => pushed(fact, asks, { ask: (world) => shakeHands(world, schema, answer), expected: { end } })

const withCode = (status: number) => (call: PushCall) => ({ ...consent(call), status })

/** The OPTIONS of a handshake. */
const asked = (fact: string, asks: string, expected: Pattern) =>
  pushed(fact, asks, {
    ask: async (world) => seenOf((await shakeHands(world, cloudSchema)).endpoint.handshakes[0]),
    expected,
  })

const byHand = (fact: string, asks: string, schema: Schema, expected: Pattern) =>
  pushed(fact, asks, { ask: (world) => validateByHand(world, schema), expected })

/** The properties of the webhook of an event subscription. */
const webhookOf = async ({ arm }: ProbeWorld, id: string, apiVersion?: string) => {
  const { body } = await arm.send('GET', id, apiVersion === undefined ? {} : { apiVersion })
  return propertiesOf(propertiesOf(body).destination)
}

const shown = (fact: string, asks: string, expected: Pattern, apiVersion?: string) =>
  pushed(fact, asks, {
    ask: async (world) => webhookOf(world, (await shakeHands(world, cloudSchema)).id, apiVersion),
    expected,
  })

const validated = { answered: 200, end: 'Succeeded', state: 'Succeeded' }

export const handshakeProbes: readonly Probe[] = [
  answered('handshake-consent', 'the origin as consent', cloudSchema, 'Succeeded', ({ headers }) => ({
    headers: { 'webhook-allowed-origin': String(headers['webhook-request-origin'] ?? '') },
  })),
  answered('handshake-consent', 'a star as consent', cloudSchema, 'Succeeded', () => ({
    headers: { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' },
  })),
  answered('handshake-no-rate', 'consent without a rate', cloudSchema, 'Succeeded', () => ({
    headers: { 'webhook-allowed-origin': '*' },
  })),
  answered('handshake-no-header', '404 without consent', cloudSchema, 'Failed', () => ({ status: 404 })),
  answered('handshake-validation-response', 'the code with 200', gridSchema, 'Succeeded', withCode(200)),
  answered('handshake-validation-response', 'the code with 202', gridSchema, 'Failed', withCode(202)),
  asked('handshake-options-headers', 'the OPTIONS of a handshake', {
    ...{ method: 'OPTIONS', url: text(/^\/probe\/[\da-f-]+\?asked=a%20b$/), text: '' },
    headers: {
      ...{ 'webhook-request-origin': 'eventgrid.azure.net', 'webhook-request-callback': present },
      'webhook-request-rate': absent,
    },
  }),
  asked('handshake-options', 'the callback of a handshake', {
    method: 'OPTIONS',
    headers: {
      'webhook-request-callback': text(
        /\/eventsubscriptions\/[^/]+\/validate\?id=[^&]+&t=[^&]+&apiVersion=[^&]+&token=/i,
      ),
    },
  }),
  pushed('handshake-validation-event', 'the validation event', {
    async ask(world) {
      const seen = seenOf((await shakeHands(world, gridSchema)).endpoint.handshakes[0])
      const { validationCode: code, validationUrl: url } = validationOf(seen?.event) ?? {}
      return { ...seen, sameId: typeof url === 'string' && new URL(url).searchParams.get('id') === code }
    },
    expected: ({ made }) => ({
      ...{ method: 'POST', sameId: true, headers: { 'aeg-event-type': 'SubscriptionValidation' } },
      event: {
        ...{ subject: '', metadataVersion: '1', eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent' },
        topic: text(new RegExp(`/providers/microsoft\\.eventgrid/topics/${made.grid.name}$`)),
      },
    }),
  }),
  pushed('handshake-name', 'whose validation it is', {
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, gridSchema)
      return endpoint.handshakes[0]?.headers['aeg-subscription-name'] === loudNameOf(id)
    },
    expected: true,
  }),
  byHand('handshake-manual', 'the state after 200 without the code', gridSchema, { waits: 'AwaitingManualAction' }),
  byHand('handshake-callback', 'consent by the callback', cloudSchema, validated),
  byHand('handshake-manual', 'consent by the validation URL', gridSchema, validated),
  byHand('operation-manual-action', 'the status of the operation while the URL waits to be called', gridSchema, {
    operation: { status: 'AwaitingManualAction' },
  }),
  pushed('handshake-at-update', 'the handshakes of a creation and an update', {
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, cloudSchema)
      const before = endpoint.handshakes.length
      const { end } = await world.arm.write('PATCH', id, { body: { labels: ['again'] } })
      return { before, end, more: endpoint.handshakes.length > before }
    },
    expected: { before: 1, end: 'Succeeded', more: true },
  }),
  shown('webhook-hidden-url', 'the URL as GET shows it', {
    endpointUrl: oneOf(null, undefined),
    endpointBaseUrl: text(/^https:\/\/[^?]+$/),
  }),
  shown('webhook-base-url-port', 'the port in the URL as GET shows it', {
    endpointBaseUrl: text(/^https:\/\/[^/:]+\//),
  }),
  shown(
    'webhook-tls-version',
    'the minimum TLS version by the older api-version',
    { minimumTlsVersionAllowed: absent },
    '2022-06-15',
  ),
  pushed('subscription-younger-lost', 'the minimum TLS version after a write by the older api-version', {
    async ask(world) {
      const { arm, made, subscriptionAt, openPush } = world
      const id = subscriptionAt(made.cloud.id)
      const { url } = openPush()
      const properties = (more: object) => ({
        body: { properties: { destination: webhookAt(url, more), eventDeliverySchema: cloudSchema } },
      })
      await arm.write('PUT', id, properties({ minimumTlsVersionAllowed: '1.2' }))
      const before = (await webhookOf(world, id)).minimumTlsVersionAllowed
      await arm.write('PUT', id, { ...properties({}), apiVersion: '2022-06-15' })
      return { before, after: (await webhookOf(world, id)).minimumTlsVersionAllowed }
    },
    expected: { before: '1.2', after: oneOf(undefined, null) },
  }),
  pushed('path-patch-keeps-url', 'the URL after a PATCH that names none', {
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, cloudSchema)
      const destination = { endpointType: 'WebHook', properties: { maxEventsPerBatch: 7 } }
      const { end } = await world.arm.write('PATCH', id, { body: { destination } })
      const { body } = await world.arm.send('POST', `${id}/getFullUrl`)
      return { end, same: isRecord(body) && body.endpointUrl === endpoint.url }
    },
    expected: { end: 'Succeeded', same: true },
  }),
  pushed('subscription-put-of-get', 'a PUT of what GET has shown', {
    async ask(world) {
      const { id } = await shakeHands(world, cloudSchema)
      const { body } = await world.arm.send('GET', id)
      return (await world.arm.send('PUT', id, { body: { properties: propertiesOf(body) } })).status
    },
    expected: 400,
  }),
  pushed('subscription-patch-201', 'a secret attribute in the answers to PUT and PATCH', {
    async ask(world) {
      const secret = { name: 'x-secret', type: 'Static', properties: { value: 'open sesame', isSecret: true } }
      const destination = webhookAt(world.openPush().url, { deliveryAttributeMappings: [secret] })
      const { id, ...put } = await putSubscription(world, { destination, eventDeliverySchema: cloudSchema })
      const patch = await world.arm.write('PATCH', id, { body: { labels: ['again'] } })
      const valueIn = ({ first }: typeof put) => {
        const mappings = propertiesOf(propertiesOf(first.body).destination).deliveryAttributeMappings
        const mapping: unknown = Array.isArray(mappings) ? mappings[0] : undefined
        return propertiesOf(mapping).value
      }
      return { put: valueIn(put), patch: valueIn(patch) }
    },
    expected: { put: 'open sesame', patch: 'Hidden' },
  }),
]
