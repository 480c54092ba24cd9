/** The room that the bytes of all deliveries take, and how a delivery waits for a share in it. */
import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../support/time/clock.ts'

/** What a delivery occupies of the room, from the end of its head until nothing holds its bytes any more. */
export interface Share {
  /** Occupies more for the same delivery. False: there is no room for more. */
  grow(bytes: number): boolean
  /** The bytes are here, and are so many. */
  resize(bytes: number): void
  /** Gives all of it back. May be called again. */
  release(): void
}

export type Room = ReturnType<typeof createRoom>

/**
 * Bytes of all events of the process. A byte takes up to five of memory while its event is handled: the body, the copy that the handler
 * gets, the parsed event and what the application's request takes. With it 256 events of 1 MB at once stay within 256 MiB (security.md).
 */
const maxBytes = 24 * 1_048_576
/** Deliveries that wait for room at a time. They take connections only: no byte of theirs has been read. */
const maxWaiting = 1_000
/** How long a delivery waits, in milliseconds, for room as for a free call of the handler. Event Grid gives up after 30 s. */
export const maxWaitMs = 3_000

/** @param most bytes. A delivery that is larger fits where nothing else is. */
export function createRoom(most: number) {
  let used = 0
  /** Those that wait for room, the first ones first. */
  const queue = new Set<{ readonly bytes: number; readonly enter: (share: Share) => void }>()
  const whenFree = new Set<() => void>()
  const fits = (bytes: number) => used === 0 || used + bytes <= most

  function occupy(bytes: number): Share {
    let own = bytes
    used += own
    const set = (size: number) => {
      const isLess = size < own
      used += size - own
      own = size
      if (isLess) letIn()
    }
    return {
      grow(more) {
        if (used + more > most) return false
        set(own + more)
        return true
      },
      resize: set,
      release: () => set(0),
    }
  }

  function letIn(): void {
    for (const waiting of queue) {
      if (!fits(waiting.bytes)) return
      queue.delete(waiting)
      waiting.enter(occupy(waiting.bytes))
    }
    if (used >= most || whenFree.size === 0) return
    const ready = [...whenFree]
    whenFree.clear()
    for (const callback of ready) callback()
  }

  return {
    /** Takes a share, whether or not there is room: the bytes are here. */
    occupy,
    /** Deliveries that wait. */
    waiting: () => queue.size,
    /** Bytes that are taken. */
    used: () => used,
    isFull: () => used >= most,
    /** Calls back once, when it is not full. */
    whenFree: (callback: () => void) => void whenFree.add(callback),
    /**
     * Calls back once, in the asynchronous context of this call: with a share as soon as there is room and nobody waits, or with
     * `undefined` after `maxWaitMs`, and at once where too many wait. Gives what ends the wait without a call.
     */
    enter(bytes: number, clock: Pick<Clock, 'setTimer'>, onEnd: (share: Share | undefined) => void): () => void {
      const isFree = queue.size === 0 && fits(bytes)
      if (isFree || queue.size >= maxWaiting) {
        onEnd(isFree ? occupy(bytes) : undefined)
        return () => {}
      }
      const end = AsyncResource.bind(onEnd)
      const waiting = {
        bytes,
        enter(share: Share) {
          cancel()
          end(share)
        },
      }
      const cancel = clock.setTimer(maxWaitMs, () => {
        queue.delete(waiting)
        end(undefined)
      })
      queue.add(waiting)
      return () => {
        cancel()
        if (queue.delete(waiting)) letIn()
      }
    },
  }
}

/** That of the process: all its listeners and receivers share it. */
export const processRoom: Room = createRoom(maxBytes)
