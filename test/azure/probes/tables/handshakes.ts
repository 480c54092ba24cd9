/** Handshakes: what Event Grid asks a webhook, and which answers it takes. They need a public URL. */
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { consent, type PushAnswer, type PushCall, validationOf } from '../../push/listener.ts'
import { absent, oneOf, present, text } from '../expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probe.ts'
import { cloudSchema, gridSchema, propertiesOf, stateOf, webhookAt } from './asking.ts'

type Schema = typeof cloudSchema | typeof gridSchema

/** Makes an event subscription with a webhook that answers the handshake so, and waits for its end. */
async function shakeHands(
  world: ProbeWorld,
  schema: Schema,
  handshake: (call: PushCall, index: number) => PushAnswer = consent,
  limitMs = 5 * 60_000,
) {
  const { arm, made, subscriptionAt, openPush } = world
  const endpoint = openPush({ handshake })
  const id = subscriptionAt(schema === cloudSchema ? made.cloud.id : made.grid.id)
  const body = { properties: { destination: webhookAt(endpoint.url), eventDeliverySchema: schema } }
  const written = await arm.write('PUT', id, { body, limitMs })
  return { id, endpoint, ...written, state: await stateOf(world, id) }
}

const seenOf = (call: PushCall | undefined) =>
  call && { method: call.method, url: call.url, headers: call.headers, text: call.text, event: eventOf(call.body) }
const eventOf = (body: unknown): unknown => (Array.isArray(body) && body.length === 1 ? body[0] : body)

interface Answered {
  readonly fact: string
  readonly asks: string
  readonly schema: Schema
  readonly answer: (call: PushCall) => PushAnswer
  readonly end: 'Succeeded' | 'Failed'
}

const origin = ({ headers }: PushCall) => String(headers['webhook-request-origin'] ?? '')
const withCode = (status: number) => (call: PushCall) => ({ ...consent(call), status })

const answered: readonly Answered[] = [
  {
    ...{ fact: 'handshake-consent', asks: 'the origin as consent', schema: cloudSchema, end: 'Succeeded' },
    answer: (call) => ({ headers: { 'webhook-allowed-origin': origin(call) } }),
  },
  {
    ...{ fact: 'handshake-consent', asks: 'a star as consent', schema: cloudSchema, end: 'Succeeded' },
    answer: () => ({ headers: { 'webhook-allowed-origin': '*', 'webhook-allowed-rate': '*' } }),
  },
  {
    ...{ fact: 'handshake-no-rate', asks: 'consent without a rate', schema: cloudSchema, end: 'Succeeded' },
    answer: () => ({ headers: { 'webhook-allowed-origin': '*' } }),
  },
  {
    ...{ fact: 'handshake-no-header', asks: '404 without consent', schema: cloudSchema, end: 'Failed' },
    answer: () => ({ status: 404 }),
  },
  {
    ...{ fact: 'handshake-validation-response', asks: 'the code with 200', schema: gridSchema, end: 'Succeeded' },
    answer: withCode(200),
  },
  {
    ...{ fact: 'handshake-validation-response', asks: 'the code with 202', schema: gridSchema, end: 'Failed' },
    answer: withCode(202),
  },
]

/** Answers without consent, and asks for the callback's URL later, as a person would. */
async function validateByHand(world: ProbeWorld, schema: Schema) {
  const { arm, made, subscriptionAt, openPush, send, until, target } = world
  const endpoint = openPush({ handshake: () => ({ status: 200 }) })
  const id = subscriptionAt(schema === cloudSchema ? made.cloud.id : made.grid.id)
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

export const handshakeProbes: readonly Probe[] = [
  ...answered.map(({ fact, asks, schema, answer, end }) =>
    probe({
      ...{ fact, asks, needs: ['push'], expected: { end } },
      ask: (world) => shakeHands(world, schema, answer),
    }),
  ),
  ...(
    [
      [
        'handshake-options-headers',
        'the OPTIONS of a handshake',
        {
          ...{ method: 'OPTIONS', url: text(/^\/probe\/[\da-f-]+\?asked=a%20b$/), text: '' },
          headers: {
            ...{ 'webhook-request-origin': 'eventgrid.azure.net', 'webhook-request-callback': present },
            'webhook-request-rate': absent,
          },
        },
      ],
      [
        'handshake-options',
        'the callback of a handshake',
        {
          method: 'OPTIONS',
          headers: {
            'webhook-request-callback': text(
              /\/eventsubscriptions\/[^/]+\/validate\?id=[^&]+&t=[^&]+&apiVersion=[^&]+&token=/i,
            ),
          },
        },
      ],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({
      ...{ fact, asks, expected, needs: ['push'] },
      ask: async (world) => seenOf((await shakeHands(world, cloudSchema)).endpoint.handshakes[0]),
    }),
  ),
  probe({
    fact: 'handshake-validation-event',
    asks: 'the validation event',
    needs: ['push'],
    async ask(world) {
      const seen = seenOf((await shakeHands(world, gridSchema)).endpoint.handshakes[0])
      const data = validationOf(seen?.event)
      const { validationCode: code, validationUrl: url } = data ?? {}
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
  probe({
    fact: 'handshake-name',
    asks: 'whose validation it is',
    needs: ['push'],
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, gridSchema)
      const name = endpoint.handshakes[0]?.headers['aeg-subscription-name']
      return name === id.slice(id.lastIndexOf('/') + 1).toUpperCase()
    },
    expected: true,
  }),
  ...(
    [
      ['handshake-manual', 'the state after 200 without the code', gridSchema, { waits: 'AwaitingManualAction' }],
      [
        'handshake-callback',
        'consent by the callback',
        cloudSchema,
        { answered: 200, end: 'Succeeded', state: 'Succeeded' },
      ],
      [
        'handshake-manual',
        'consent by the validation URL',
        gridSchema,
        { answered: 200, end: 'Succeeded', state: 'Succeeded' },
      ],
    ] as const
  ).map(([fact, asks, schema, expected]) =>
    probe({ ...{ fact, asks, expected, needs: ['push'] }, ask: (world) => validateByHand(world, schema) }),
  ),
  probe({
    fact: 'operation-manual-action',
    asks: 'the status of the operation while the URL waits to be called',
    needs: ['push'],
    ask: (world) => validateByHand(world, gridSchema),
    expected: { operation: { status: 'AwaitingManualAction' } },
  }),
  probe({
    fact: 'handshake-at-update',
    asks: 'the handshakes of a creation and an update',
    needs: ['push'],
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, cloudSchema)
      const before = endpoint.handshakes.length
      const { end } = await world.arm.write('PATCH', id, { body: { labels: ['again'] } })
      return { before, end, more: endpoint.handshakes.length > before }
    },
    expected: { before: 1, end: 'Succeeded', more: true },
  }),
  ...(
    [
      [
        'webhook-hidden-url',
        'the URL as GET shows it',
        { endpointUrl: oneOf(null, undefined), endpointBaseUrl: text(/^https:\/\/[^?]+$/) },
      ],
      [
        'webhook-base-url-port',
        'the port in the URL as GET shows it',
        { endpointBaseUrl: text(/^https:\/\/[^/:]+\//) },
      ],
      ['webhook-tls-version', 'the minimum TLS version by the older api-version', { minimumTlsVersionAllowed: absent }],
    ] as const
  ).map(([fact, asks, expected]) =>
    probe({
      ...{ fact, asks, expected, needs: ['push'] },
      async ask(world) {
        const { id } = await shakeHands(world, cloudSchema)
        const options = fact === 'webhook-tls-version' ? { apiVersion: '2022-06-15' } : {}
        const { destination } = propertiesOf((await world.arm.send('GET', id, options)).body)
        return propertiesOf(destination)
      },
    }),
  ),
  probe({
    fact: 'subscription-younger-lost',
    asks: 'the minimum TLS version after a write by the older api-version',
    needs: ['push'],
    async ask(world) {
      const { arm, made, subscriptionAt, openPush } = world
      const id = subscriptionAt(made.cloud.id)
      const { url } = openPush()
      const properties = (more: object) => ({
        body: { properties: { destination: webhookAt(url, more), eventDeliverySchema: cloudSchema } },
      })
      await arm.write('PUT', id, properties({ minimumTlsVersionAllowed: '1.2' }))
      const before = propertiesOf(propertiesOf((await arm.send('GET', id)).body).destination).minimumTlsVersionAllowed
      await arm.write('PUT', id, { ...properties({}), apiVersion: '2022-06-15' })
      const after = propertiesOf(propertiesOf((await arm.send('GET', id)).body).destination).minimumTlsVersionAllowed
      return { before, after }
    },
    expected: { before: '1.2', after: oneOf(undefined, null) },
  }),
  probe({
    fact: 'path-patch-keeps-url',
    asks: 'the URL after a PATCH that names none',
    needs: ['push'],
    async ask(world) {
      const { id, endpoint } = await shakeHands(world, cloudSchema)
      const destination = { endpointType: 'WebHook', properties: { maxEventsPerBatch: 7 } }
      const { end } = await world.arm.write('PATCH', id, { body: { destination } })
      const { body } = await world.arm.send('POST', `${id}/getFullUrl`)
      return { end, same: isRecord(body) && body.endpointUrl === endpoint.url }
    },
    expected: { end: 'Succeeded', same: true },
  }),
  probe({
    fact: 'subscription-put-of-get',
    asks: 'a PUT of what GET has shown',
    needs: ['push'],
    async ask(world) {
      const { id } = await shakeHands(world, cloudSchema)
      const { body } = await world.arm.send('GET', id)
      return (await world.arm.send('PUT', id, { body: { properties: propertiesOf(body) } })).status
    },
    expected: 400,
  }),
  probe({
    fact: 'subscription-patch-201',
    asks: 'a secret attribute in the answers to PUT and PATCH',
    needs: ['push'],
    async ask(world) {
      const { arm, made, subscriptionAt, openPush } = world
      const id = subscriptionAt(made.cloud.id)
      const secret = { name: 'x-secret', type: 'Static', properties: { value: 'open sesame', isSecret: true } }
      const destination = webhookAt(openPush().url, { deliveryAttributeMappings: [secret] })
      const put = await arm.write('PUT', id, {
        body: { properties: { destination, eventDeliverySchema: cloudSchema } },
      })
      const patch = await arm.write('PATCH', id, { body: { labels: ['again'] } })
      const shown = ({ first }: typeof put) => {
        const mappings = propertiesOf(propertiesOf(first.body).destination).deliveryAttributeMappings
        const mapping: unknown = Array.isArray(mappings) ? mappings[0] : undefined
        return propertiesOf(mapping).value
      }
      return { put: shown(put), patch: shown(patch) }
    },
    expected: { put: 'open sesame', patch: 'Hidden' },
  }),
]
