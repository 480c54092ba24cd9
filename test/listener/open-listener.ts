import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { deliveryTokenHeader, deriveDeliveryCredentials } from '../../src/core/delivery-credential.ts'
import type { EventHandler, ReceivedEvent } from '../../src/core/event.ts'
import { Secret } from '../../src/core/secret.ts'
import { createListener, type ListenerOptions } from '../../src/listener/listener.ts'
import { azureEnvironments } from '../../src/metadata/fields/addresses.ts'
import type { PushMetadata } from '../../src/metadata/typed/metadata.ts'
import { captureLog } from '../support/captured-log.ts'

const subscriptionId = '00000000-0000-0000-0000-000000000001'

/** Deliveries prove themselves by a credential of one of these secrets. */
export const bySecrets = (...secrets: string[]) => ({
  kind: 'secret' as const,
  sources: secrets.map((secret) => new Secret(secret)),
})

/** The credential that a secret gives. */
export function credentialFrom(secret: string, scopeId = `/subscriptions/${subscriptionId}`, name = 'orders') {
  const [credential] = deriveDeliveryCredentials({
    deliveryAuthentication: bySecrets(secret),
    scope: { id: scopeId },
    eventSubscriptionName: name,
  })
  if (!credential) throw new Error('one secret gives one credential')
  return { keyId: credential.keyId, value: credential.value, text: credential.value.reveal() }
}

/** The listener's own credential. */
export const ours = credentialFrom('client secret')

/** The header that proves a delivery under `secret`. */
export const proof = { [deliveryTokenHeader]: ours.text }

/** The same as a line of a head. */
export const proofLine = `${deliveryTokenHeader}: ${ours.text}`

export const inputMetadata: PushMetadata = {
  credential: { kind: 'host' },
  environment: azureEnvironments.AzurePublicCloud,
  subscriptionId,
  clientId: undefined,
  subscriberEndpoint: 'https://orders.example.com/api/events',
  handshakePort: 0,
  listenAddress: '127.0.0.1',
  scope: { kind: 'subscription', id: `/subscriptions/${subscriptionId}`, subscriptionId },
  eventSubscriptionName: 'orders',
  settings: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
  replaceDestination: false,
  deliveryAuthentication: bySecrets('client secret'),
  maxConcurrency: 8,
  maxRequestBytes: 4 * 1024 * 1024,
  handlerTimeoutMs: 25_000,
  subscriptionTimeoutMs: 120_000,
  provisioning: 'manage',
}

export interface Opening extends Partial<Omit<ListenerOptions, 'input' | 'handler'>> {
  readonly input?: Partial<PushMetadata>
  /** Undefined: no handler. Absent: one that acknowledges. */
  readonly handler?: EventHandler | undefined
}

/** A listener on a free port, closed when the test ends. Deliveries need {@link proof} unless `deliveryAuthentication` is another. */
export async function openListener(opening: Opening = {}) {
  const events: ReceivedEvent[] = []
  const log = captureLog()
  const handler = 'handler' in opening ? opening.handler : () => {}
  const handle: EventHandler | undefined =
    handler &&
    ((event) => {
      events.push(event)
      return handler(event)
    })
  const made = await createListener({
    endpoints: {},
    logger: log,
    health: () => ({ status: 'healthy' }),
    subscriptionWrittenAt: () => undefined,
    ...opening,
    handler: { current: handle },
    input: { ...inputMetadata, ...opening.input },
  })
  onTestFinished(() => made.close())
  await made.listen(new AbortController().signal)
  const address = made.address()
  if (!address) throw new Error('a listener that listens has an address')
  const listener = { ...made, address }
  const origin = `http://127.0.0.1:${listener.address.port}`
  return {
    listener,
    events,
    log,
    origin,
    request: (init: RequestInit, path = '/api/events') => fetch(`${origin}${path}`, init),
    /** Posts as Event Grid does, with proof, and `headers` over it; one that is undefined is left out. */
    deliver: (
      body: string | Buffer<ArrayBuffer>,
      headers: Record<string, string | undefined> = {},
      path = '/api/events',
    ) => fetch(`${origin}${path}`, { method: 'POST', body, headers: deliveryHeaders({ ...proof, ...headers }) }),
    /** Sends bytes as they are and gives back what comes until the connection ends. */
    raw: (bytes: string | Buffer, options: RawOptions = {}) => rawExchange(listener.address.port, bytes, options),
  }
}

function deliveryHeaders(headers: Record<string, string | undefined>): Headers {
  const all = new Headers({
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'aeg-subscription-name': 'ORDERS',
    'aeg-delivery-count': '0',
    'aeg-event-type': 'Notification',
  })
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) all.delete(name)
    else all.set(name, value)
  }
  return all
}

interface RawOptions {
  /** End our direction after the bytes. */
  readonly halfClose?: boolean
  /** Called for each piece of the answer. */
  readonly onData?: () => void
}

function rawExchange(port: number, bytes: string | Buffer, { halfClose, onData }: RawOptions): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let received = ''
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true }, () => {
    if (halfClose) socket.end(bytes)
    else socket.write(bytes)
  })
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    onData?.()
  })
  socket.on('error', () => {})
  socket.on('end', () => socket.destroy())
  socket.on('close', () => resolve(received))
  onTestFinished(() => void socket.destroy())
  return promise
}

/** A CloudEvent as JSON. */
export function cloudEventText(id: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({ specversion: '1.0', id, source: '/shop', type: 'Shop.Order.Placed', data: { id }, ...more })
}

/** An Event Grid event as JSON. */
export function eventGridText(id: string, more: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id,
    topic: '/subscriptions/1/topics/shop',
    subject: 'orders/1',
    eventType: 'Shop.Order.Placed',
    eventTime: '2026-11-21T10:00:00.1234567Z',
    dataVersion: '1',
    metadataVersion: '1',
    data: { id },
    ...more,
  })
}
