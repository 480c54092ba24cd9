import { randomUUID } from 'node:crypto'
import { deriveDeliveryCredentials } from '../core/delivery-credential.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import type { EventHandler } from '../core/event.ts'
import { silentLogger } from '../core/logger.ts'
import { createListener } from '../listener/listener.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import { isRecord } from '../support/is-record.ts'
import { type ProbeAnswer, probe } from './probe.ts'

/** Who has `handshakePort`. */
export type PortHolder =
  /** Nobody had it: `check` listens there itself until it ends. */
  | {
      readonly kind: 'check'
      /** What its answer to OPTIONS without an origin holds, so that the way there can be told from another. */
      readonly mark: string
      /** Has this handler get the deliveries; without one they are answered 503. */
      read(handler: EventHandler | undefined): void
    }
  /** A listener of this binding, as its answer to OPTIONS shows. */
  | { readonly kind: 'ours'; readonly health: Readonly<Record<string, unknown>> }
  /** Somebody else, or the port can't be had at all. */
  | { readonly kind: 'stranger'; readonly error: BindingError; readonly answer: ProbeAnswer | undefined }

/** What {@link holdPort} needs. */
export interface HoldPortOptions {
  readonly input: InputMetadata
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
}

/** Listens on `handshakePort` as the binding does, or finds out who does. `close` frees the port. */
export async function holdPort(
  options: HoldPortOptions,
): Promise<{ readonly holder: PortHolder; close(): Promise<void> }> {
  const { input, endpoints, signal } = options
  const { deliveryAuthentication: delivery } = input
  const mark = randomUUID()
  let handler: EventHandler | undefined
  try {
    const listener = await createListener({
      input,
      endpoints,
      authentication:
        delivery.kind === 'secret'
          ? { kind: 'secret', credentials: deriveDeliveryCredentials(delivery.sources, input) }
          : delivery,
      logger: silentLogger,
      handler: () => handler,
      health: () => ({ status: 'up', eventSubscription: 'pending', handler: 'missing', check: mark }),
      subscriptionWrittenAt: () => undefined,
    })
    const close = async () => {
      // What has been handled is still to be acknowledged.
      await listener.drain()
      await listener.close()
    }
    const read = (wanted: EventHandler | undefined) => {
      handler = wanted
    }
    return { holder: { kind: 'check', mark, read }, close }
  } catch (error) {
    if (!(error instanceof BindingError) || error.code !== 'PORT_UNAVAILABLE') throw error
    const answer = error.details.reason === 'EADDRINUSE' ? await askHolder(input, signal) : undefined
    const health = answer && healthOf(answer)
    const holder: PortHolder = health ? { kind: 'ours', health } : { kind: 'stranger', error, answer }
    return { holder, close: async () => {} }
  }
}

/** What a listener of this binding says of itself; `undefined` where somebody else answered. */
export function healthOf({ status, body }: ProbeAnswer): Readonly<Record<string, unknown>> | undefined {
  if (status !== 200) return undefined
  try {
    const said: unknown = JSON.parse(body)
    const names = ['status', 'eventSubscription', 'handler']
    return isRecord(said) && names.every((name) => typeof said[name] === 'string') ? said : undefined
  } catch {
    return undefined
  }
}

async function askHolder(
  { handshakePort, listenAddress }: InputMetadata,
  signal: AbortSignal,
): Promise<ProbeAnswer | undefined> {
  const everywhere = listenAddress === undefined || /^(::|0\.0\.0\.0)$/.test(listenAddress)
  const addresses = everywhere ? ['127.0.0.1', '::1'] : [listenAddress]
  for (const address of addresses) {
    const target = { address, port: handshakePort }
    const url = new URL(`http://127.0.0.1:${handshakePort}/api/events`)
    const answer = await probe({ url, target, method: 'OPTIONS', signal }).catch(() => undefined)
    if (answer) return answer
  }
  return undefined
}
