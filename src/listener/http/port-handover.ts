/** Ports that pass from one component of the process to another: who wants one waits until it is left, whatever the order of the calls. */
import { BindingError } from '../../core/errors.ts'

const leaving = new Map<number, Promise<void>>()

/** Tells that a port is about to be left. The function that it returns tells that it was, or that it is not left after all. */
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

/** Whether another component keeps the port. */
export const isKept = (port: number, owner: symbol | undefined): boolean => (kept.get(port) ?? owner) !== owner

/** Listens on a port; once more when it is left, where another component is about to do so and does not keep it. */
export async function listenOnceLeft<T>(port: number, owner: symbol | undefined, listen: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await listen()
    } catch (error) {
      const isBusy = error instanceof BindingError && error.code === 'PORT_UNAVAILABLE'
      const left = leaving.get(port)
      if (!isBusy || error.details.reason !== 'EADDRINUSE' || isKept(port, owner) || !left) throw error
      await left
    }
  }
}
