import type { SteadyClock } from '../../src/support/time/clock.ts'

/** Time that passes as fast as the machine computes. */
export interface SimulatedTime {
  /** For the code under test. */
  readonly clock: SteadyClock
  /** Milliseconds since the start. */
  now(): number
  /** Calls back in `ms` milliseconds. What it runs must not wait for promises, unless it says so by {@link touched}. */
  after(ms: number, run: () => void): void
  /** Says that code with promises was called: they settle before time goes on. */
  touched(): void
  /** Lets time pass up to that moment. */
  runUntil(ms: number): Promise<void>
}

interface Entry {
  readonly at: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

const isBefore = (one: Entry, other: Entry) => one.at < other.at || (one.at === other.at && one.order < other.order)

/** Entries in the order of their time: a binary heap. */
function createQueue() {
  const heap: Entry[] = []
  const swap = (one: number, other: number) => {
    const [first, second] = [heap[one], heap[other]]
    if (first && second) [heap[one], heap[other]] = [second, first]
  }
  const precedes = (one: number, other: number) => {
    const [first, second] = [heap[one], heap[other]]
    return first !== undefined && second !== undefined && isBefore(first, second)
  }
  return {
    peek: () => heap[0],
    push(entry: Entry) {
      heap.push(entry)
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1
        if (!precedes(at, parent)) break
        swap(at, parent)
        at = parent
      }
    },
    pop(): void {
      swap(0, heap.length - 1)
      heap.pop()
      for (let at = 0; ; ) {
        let least = at
        for (const child of [2 * at + 1, 2 * at + 2]) if (precedes(child, least)) least = child
        if (least === at) return
        swap(at, least)
        at = least
      }
    },
  }
}

/** Starts time at zero. */
export function createSimulatedTime(): SimulatedTime {
  const epoch = Date.parse('2026-03-11T08:00:00Z')
  const queue = createQueue()
  let now = 0
  let order = 0
  let open = false
  const touched = () => {
    open = true
  }
  const add = (ms: number, run: () => void): Entry => {
    const entry = { at: now + Math.max(0, ms), order: order++, run, cancelled: false }
    queue.push(entry)
    return entry
  }
  const settle = async () => {
    open = false
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return {
    clock: {
      now: () => epoch + now,
      elapsed: () => now,
      setTimer(ms, callback) {
        const entry = add(ms, () => {
          touched()
          callback()
        })
        return () => {
          entry.cancelled = true
        }
      },
    },
    now: () => now,
    after: (ms, run) => void add(ms, run),
    touched,
    async runUntil(end) {
      await settle()
      for (let next = queue.peek(); next && next.at <= end; next = queue.peek()) {
        queue.pop()
        if (next.cancelled) continue
        now = next.at
        next.run()
        if (open) await settle()
      }
      now = end
    },
  }
}
