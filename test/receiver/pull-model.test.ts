/** Random handlers, locks and troubles of a namespace: no event is acknowledged that was not handled, none is lost, and each wait ends. */
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding, type EventHandler, RejectEvent } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { order } from '../support/open-pull.ts'
import { watchOwnTimers } from '../support/own-timers.ts'
import { tryWorlds } from '../support/random-worlds.ts'
import { startQueue, type Trouble } from './queue-namespace.ts'

const handlerTimeoutMs = 40_000
const ends = ['resolved', 'rejected', 'threw', 'returned a function'] as const
type End = (typeof ends)[number]

const troubles: Trouble[] = ['none', 'busy', 'failed', 'refused', 'page', 'cut', 'lost', 'hangs', 'token fails']
const trouble = fc.constantFrom(...troubles)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('publish') }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('end'), run: fc.nat(), how: fc.constantFrom(...ends) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('pass'),
      ms: fc.constantFrom<number>(200, 1_000, 10_000, 30_000, handlerTimeoutMs, 61_000),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('receiveFails'), trouble }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('settleFails'), trouble }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('replaceHandler'),
      by: fc.constantFrom(...ends, 'takes time', 'obeys its signal'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('loseLocks') }) },
  // Until requests have arrived and answers were read.
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('turns'), count: fc.integer({ min: 1, max: 30 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Run {
  readonly text: string
  readonly signal: AbortSignal
  isOpen: boolean
  end(how: End): void
}

/** By text: what was handled, or rejected, before its signal aborted. */
const createDone = () => ({ resolved: new Set<string>(), rejected: new Set<string>() })

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}
const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length]

/** The handler of one binding, what it did, and what it must not have seen. */
function createWatchedHandler(maxConcurrency: number, done: ReturnType<typeof createDone>, faults: string[]) {
  const runs: Run[] = []
  const own = new Set<string>()
  let behaviour: End | 'takes time' | 'obeys its signal' = 'takes time'
  const open = () => runs.filter(({ isOpen }) => isOpen)

  const handler: EventHandler = ({ data, signal }) => {
    const text = data.toString()
    if (open().length >= maxConcurrency) faults.push('more handler calls than maxConcurrency')
    if (own.has(text)) faults.push('an event is handled again by a binding that knows its outcome')
    if (open().some((run) => run.text === text && !run.signal.aborted)) faults.push('an event is handled twice at once')
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const run: Run = {
      text,
      signal,
      isOpen: true,
      end(how) {
        if (!run.isOpen) return
        run.isOpen = false
        if (!signal.aborted && (how === 'resolved' || how === 'rejected')) {
          done[how].add(text)
          own.add(text)
        }
        if (how === 'resolved') resolve(undefined)
        else if (how === 'returned a function') resolve(() => {})
        else reject(how === 'rejected' ? new RejectEvent('never') : new Error('no'))
      },
    }
    runs.push(run)
    // The handler may do what it likes with its bytes.
    data.fill(0)
    if (behaviour === 'obeys its signal') signal.addEventListener('abort', () => run.end('resolved'))
    else if (behaviour !== 'takes time') run.end(behaviour)
    return promise
  }
  const behave = (next: typeof behaviour) => {
    behaviour = next
  }
  return { handler, open, behave }
}

const many = { kind: 'turns', count: 30 } as const
const passing = (ms: number) => [{ kind: 'pass', ms } as const, many]

const known: { maxConcurrency: number; steps: Step[]; restarts: boolean }[] = [
  {
    // A redelivery waits for the first handler call, which hangs, while the event is handled anew and acknowledged.
    maxConcurrency: 2,
    steps: [
      ...[many, { kind: 'publish' } as const, many, ...passing(61_000), ...passing(61_000), ...passing(39_000)],
      ...[{ kind: 'loseLocks' } as const, many, { kind: 'end', run: 1, how: 'resolved' } as const, many],
    ],
    restarts: false,
  },
]

it('acknowledges what was handled and nothing else, loses nothing, and ends each wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const timers = watchOwnTimers()
  const faults: string[] = []
  let done = createDone()
  const namespace = await startQueue(
    () => performance.now(),
    (operation, { text }) => {
      if (operation === 'acknowledge' && !done.resolved.has(text)) faults.push('acknowledged, not handled')
      if (operation === 'reject' && !done.rejected.has(text)) faults.push('rejected by nobody')
    },
  )
  let published = 0

  /** Timers fire after all that promises do, as in Node: an event that has ended is known to have ended. */
  async function pass(ms: number): Promise<void> {
    await turns(1)
    vi.advanceTimersByTime(ms)
    namespace.serve()
  }

  /** Lets time pass in small steps until something holds. */
  async function until(holds: () => boolean, limitMs: number, what: string): Promise<void> {
    for (let passed = 0; !holds(); passed += 500) {
      if (passed > limitMs) throw new Error(`${what}: not after ${limitMs} ms`)
      await pass(500)
      await turns(3)
      // No time passes while requests are on their way: on a busy machine all of them would time out.
      while (!namespace.isQuiet()) await turns(1)
      await turns(3)
    }
  }

  async function open(maxConcurrency: number) {
    const watched = createWatchedHandler(maxConcurrency, done, faults)
    const log = captureLog()
    const binding = new Binding({ endpoints: namespace.endpoints, onEvent: watched.handler, logger: log })
    const options = { maxConcurrency: String(maxConcurrency), handlerTimeout: `${handlerTimeoutMs / 1000}s` }
    // Without the question of an init that waits: the script is for receives alone.
    await binding.init({ ...namespace.properties, ...options }, { subscription: 'background' })
    return { binding, ...watched }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  async function take(next: Step, { binding, handler, open: runs, behave }: Opened): Promise<void> {
    if (next.kind === 'publish') namespace.publish(JSON.stringify(order(String(published++))))
    else if (next.kind === 'end') pick(runs(), next.run)?.end(next.how)
    else if (next.kind === 'pass') await pass(next.ms)
    else if (next.kind === 'receiveFails') namespace.next.receive.push(next.trouble)
    else if (next.kind === 'settleFails') namespace.next.settle.push(next.trouble)
    else if (next.kind === 'loseLocks') namespace.loseLocks()
    else if (next.kind === 'replaceHandler') {
      behave(next.by)
      binding.read((event) => handler(event))
    } else await turns(next.count)
    expect(faults).toEqual([])
  }

  async function close({ binding, open: runs }: Opened): Promise<void> {
    let closed = false
    const closing = binding.close().then(() => (closed = true))
    await until(() => closed, handlerTimeoutMs + 7_000, 'close')
    await closing
    for (const run of runs()) run.end('resolved')
  }

  const script = fc.record({
    maxConcurrency: fc.integer({ min: 1, max: 4 }),
    steps: fc.array(step, { maxLength: 40, size: 'max' }),
    restarts: fc.boolean(),
  })
  type World = typeof script extends fc.Arbitrary<infer T> ? T : never
  async function live({ maxConcurrency, steps, restarts }: World): Promise<void> {
    done = createDone()
    faults.length = 0
    namespace.clear()
    vi.clearAllTimers()
    let opened = await open(maxConcurrency)
    try {
      for (const next of steps) await take(next, opened)
      if (restarts) {
        await close(opened)
        opened = await open(maxConcurrency)
      }
      namespace.next.receive = []
      namespace.next.settle = []
      opened.behave('resolved')
      for (const run of opened.open()) run.end('resolved')
      // The longest delay of a release, and what Retry-After and a lost lock take.
      await until(() => namespace.events().every(({ end }) => end !== undefined), 4_000_000, 'each event')
    } finally {
      // After a fault too: a world that is tried next must not meet this one.
      await close(opened)
    }
    expect(faults).toEqual([])
    expect(timers.left()).toEqual([])
  }
  await tryWorlds(script, { count: 60, known }, (world) => timers.run(() => live(world)))
})
