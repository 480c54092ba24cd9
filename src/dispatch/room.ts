/** The room that the bytes of all deliveries take, and how a delivery waits for a share in it. */
import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../support/time/clock.ts'

/** What one delivery occupies of the room, from the end of its head until nothing holds its bytes any more. */
export interface Share {
  /** Occupies more for the same delivery. False: there is not that much room, and the share stays as it was. */
  grow(bytes: number): boolean
  /** The body has arrived: the share is as large as the body from now on. */
  resize(bytes: number): void
  /** Gives the whole share back. What is called later does nothing. */
  release(): void
}

export type Room = ReturnType<typeof createRoom>

/**
 * Bytes of all events of the process. A byte takes up to five of memory while its event is handled: the body, the copy that the handler
 * gets, the parsed event and what the application's request takes. With this bound 256 events of 1 MB at once stay within 256 MiB
 * (security.md).
 */
const maxBytes = 24 * 1_048_576
/** Deliveries that wait for room at a time. They take connections only: no byte of theirs has been read. */
const maxWaiting = 1_000
/** How long a delivery waits, in milliseconds, for room and for a free call of the handler together. Event Grid gives up after 30 s. */
export const maxWaitMs = 3_000

/** @param most bytes of all deliveries together. A larger delivery gets a share while no other delivery has one. */
export function createRoom(most: number) {
  let used = 0
  /** Deliveries that wait for room, the first ones first. */
  const queue = new Set<{ readonly bytes: number; readonly enter: (share: Share) => void }>()
  const whenFree = new Set<() => void>()
  const fits = (bytes: number) => used === 0 || used + bytes <= most

  /** A class, because an object with a function for each operation takes eight times the memory. */
  class OwnShare implements Share {
    #bytes = 0
    #isOver = false

    grow(more: number): boolean {
      if (used + more > most) return false
      this.resize(this.#bytes + more)
      return true
    }

    resize(bytes: number): void {
      // A hook of the host has answered while the body was still coming.
      if (this.#isOver) return
      const isLess = bytes < this.#bytes
      used += bytes - this.#bytes
      this.#bytes = bytes
      if (isLess) letIn()
    }

    release(): void {
      this.resize(0)
      this.#isOver = true
    }
  }

  function occupy(bytes: number): Share {
    const share = new OwnShare()
    share.resize(bytes)
    return share
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
    /** Gives a share at once, whether or not there is room: for bytes that have arrived already. */
    occupy,
    /** Deliveries that wait. */
    waiting: () => queue.size,
    /** Bytes that are taken. */
    used: () => used,
    isFull: () => used >= most,
    /** Calls back once: the next time that a share gets smaller and the room is not full. */
    whenFree: (callback: () => void) => void whenFree.add(callback),
    /**
     * Calls back once, in the asynchronous context of this call: with a share as soon as there is room and nobody waits, or with
     * `undefined` after `maxWaitMs`, and at once where too many wait. Returns a function that ends the wait; `onEnd` is not called then.
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
        letIn()
      })
      queue.add(waiting)
      return () => {
        cancel()
        if (queue.delete(waiting)) letIn()
      }
    },
  }
}

/** The room of the process, for all listeners and receivers in it. */
export const processRoom: Room = createRoom(maxBytes)
