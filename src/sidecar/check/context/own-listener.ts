/** `check` listens on `handshakePort` itself, or finds out who holds the port. */
import { randomUUID } from 'node:crypto'
import type { Endpoints } from '../../../core/endpoints.ts'
import { BindingError } from '../../../core/errors.ts'
import type { EventHandler } from '../../../core/event.ts'
import { silentLogger } from '../../../core/logger.ts'
import { createListener } from '../../../listener/listener.ts'
import type { PushMetadata } from '../../../metadata/typed/metadata.ts'
import { firstAnswer } from '../../../provision/handshake.ts'
import { type ProbeAnswer, probe } from '../../../support/net/probe.ts'
import { isRecord, readJson } from '../../../support/text/json-text.ts'

export type PortHolder =
  /** The port was free: `check` listens there until it ends. */
  | {
      readonly kind: 'check'
      /** A random text in its health answer, which identifies this listener. */
      readonly mark: string
      /** Sets the handler of deliveries. Without one they are answered 503. */
      read(handler: EventHandler | undefined): void
    }
  /** A listener of this binding, as its answer to OPTIONS shows. */
  | { readonly kind: 'ours'; readonly health: Readonly<Record<string, unknown>> }
  /** Another program, or the port can't be opened. */
  | { readonly kind: 'stranger'; readonly error: BindingError; readonly answer: ProbeAnswer | undefined }

/** Listens on `handshakePort` as the binding does, or finds out who holds the port. `close` frees the port. */
export async function holdPort(
  input: PushMetadata,
  endpoints: Endpoints,
  signal: AbortSignal,
): Promise<{ readonly holder: PortHolder; close(): Promise<void> }> {
  const mark = randomUUID()
  const handler: { current: EventHandler | undefined } = { current: undefined }
  try {
    const listener = await createListener({
      input,
      endpoints,
      logger: silentLogger,
      handler,
      health: () => ({ status: 'up', eventSubscription: 'pending', handler: 'missing', check: mark }),
      subscriptionWrittenAt: () => undefined,
    })
    await listener.listen(signal, 0)
    const close = async () => {
      // Answers the deliveries that have been handled.
      await listener.drain()
      await listener.close()
    }
    const read = (wanted: EventHandler | undefined) => {
      handler.current = wanted
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

/** The health answer of a listener of this binding; `undefined` for any other answer. */
export function healthOf({ status, body }: ProbeAnswer): Readonly<Record<string, unknown>> | undefined {
  if (status !== 200) return undefined
  const said = readJson(body)
  const names = ['status', 'eventSubscription', 'handler']
  return isRecord(said) && names.every((name) => typeof said[name] === 'string') ? said : undefined
}

/** Whether the listener of `check` has given this health answer. */
export const isOwnAnswer = (holder: PortHolder, health: ProbeAnswer): boolean =>
  holder.kind === 'check' && healthOf(health)?.check === holder.mark

async function askHolder(
  { handshakePort, listenAddress }: PushMetadata,
  signal: AbortSignal,
): Promise<ProbeAnswer | undefined> {
  const everywhere = listenAddress === undefined || /^(::|0\.0\.0\.0)$/.test(listenAddress)
  const url = new URL(`http://127.0.0.1:${handshakePort}/api/events`)
  const ask = (address: string, one: AbortSignal) =>
    probe({ url, target: { address, port: handshakePort }, method: 'OPTIONS', signal: one })
  return firstAnswer(everywhere ? ['127.0.0.1', '::1'] : [listenAddress], signal, ask).catch(() => undefined)
}
