/** Ports that pass from one component of the process to another: who wants one waits until it is left, whatever the order of the calls. */
import { BindingError } from '../../core/errors.ts'
import { type ListenOptions, listen, portUnavailable } from './listen.ts'

const leaving = new Map<number, Promise<void>>()

/**
 * Tells that a port is about to be left: who wants it waits, whatever the order of the calls. The function that it returns tells that it was,
 * or that it is not left after all.
 */
export function leavePort(port: number | undefined): () => void {
  if (port === undefined) return () => {}
  const { promise, resolve } = Promise.withResolvers<void>()
  leaving.set(port, promise)
  return () => {
    if (leaving.get(port) === promise) leaving.delete(port)
    resolve()
  }
}

const kept = new Map<number, symbol>()

/** Keeps a port for its owner, who closes it and opens it anew: nobody else gets it in between. The function that it returns ends that. */
export function keepPort(port: number | undefined, owner: symbol): () => void {
  if (port === undefined) return () => {}
  kept.set(port, owner)
  return () => void kept.delete(port)
}

const keptError = Object.assign(new Error('another component keeps it'), { code: 'EADDRINUSE' })

/**
 * {@link listen}; once more when the port is left, where another component is about to do so and does not keep it.
 *
 * @param beforeListening called before each try
 */
export async function listenOnceLeft(
  options: ListenOptions,
  owner: symbol | undefined,
  beforeListening: (() => void) | undefined,
) {
  const { host = '::', port } = options
  const isKept = () => (kept.get(port) ?? owner) !== owner
  for (;;) {
    try {
      if (isKept()) throw portUnavailable(keptError, host, port)
      beforeListening?.()
      return await listen(options)
    } catch (error) {
      const isBusy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      const left = leaving.get(port)
      if (!isBusy || error.details.reason !== 'EADDRINUSE' || isKept() || !left) throw error
      await left
    }
  }
}
