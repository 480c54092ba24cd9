// Deliveries that arrive together are worked off together, up to 32 or `maxConcurrency`: less processor time under
// load; each in the async context of its request.
import { AsyncResource } from 'node:async_hooks'
import { setImmediate } from 'node:timers'

export interface TurnOptions<T> {
  /** Called for each item. Must not throw: the items behind this one would be dropped. */
  readonly work: (item: T) => void
  /** Number of items that may wait, 32 at most. */
  readonly maxItems: number
}

/** Items that may wait: more gain nothing, and requests take memory. */
const maxWaiting = 32
/** Bytes of all items that may wait. */
const maxBytes = 65_536

/**
 * Collects the items that arrive in one turn of the event loop. They are worked off one after another when the turn ends, or when they
 * reach a bound. The code of the work is then still in the processor's caches. No promise resolves between two items.
 */
export interface Turn<T> extends TurnOptions<T> {
  waiting: Waiting<T>[]
  /** Bytes of the waiting items. */
  bytes: number
}

/** Keeps the asynchronous context of a request: the host's `AsyncLocalStorage` must give each handler the store of its own request. */
class Waiting<T> extends AsyncResource {
  readonly item: T

  constructor(item: T) {
    super('EventGridDelivery', { requireManualDestroy: true })
    this.item = item
  }
}

export function createTurn<T>({ work, maxItems }: TurnOptions<T>): Turn<T> {
  return { work, maxItems: Math.min(maxItems, maxWaiting), waiting: [], bytes: 0 }
}

/** Works an item off when the turn ends, or at once if it reaches a bound; in the asynchronous context of the caller. */
export function addToTurn<T>(turn: Turn<T>, item: T, bytes: number): void {
  const { waiting, maxItems } = turn
  waiting.push(new Waiting(item))
  turn.bytes += bytes
  if (waiting.length >= maxItems || turn.bytes > maxBytes) workOff(turn)
  // Node calls back after it has read from the sockets that are ready.
  else if (waiting.length === 1) setImmediate(workOff, turn)
}

function workOff<T>(turn: Turn<T>): void {
  const { waiting, work } = turn
  turn.waiting = []
  turn.bytes = 0
  for (const one of waiting) {
    one.runInAsyncScope(work, undefined, one.item)
    one.emitDestroy()
  }
}
