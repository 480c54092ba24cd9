import type { Acknowledgement } from '../../src/listener/answers.ts'

/** How a handler call ended. */
export type End = 'resolved' | 'rejected' | 'threw'

/** One body, as its sender sees it. */
export interface Body {
  /** The bytes of each event: what makes two events the same. */
  readonly texts: readonly string[]
  readonly redelivered: boolean
  readonly arrivedAt: number
  readonly dispatchedAt: number
  readonly expiresAt: number
  /** The call that this body began for each of its events. */
  readonly runs: Map<number, Run>
  /** The connection is lost, so that no answer arrives. */
  gone: boolean
  status: Acknowledgement['status'] | undefined
  /** A 200 reached the sender. */
  acknowledged: boolean
  /** The bodies that were open when it was answered. */
  openThen: readonly Body[]
}

/** One call of the handler. */
export interface Run {
  readonly text: string
  readonly body: Body
  end: End | undefined
  endedAt: number
}

/** Not an event. */
export const invalidText = '{}'

interface LedgerOptions {
  readonly maxConcurrency: number
  readonly now: () => number
  /** Time in which a redelivery joins a running event. */
  readonly joinForMs: number
}

/**
 * What must hold whatever happens, judged by what sender and handler see. Faults are collected instead of thrown, because the dispatcher
 * catches what a handler throws.
 */
export function createLedger({ maxConcurrency, now, joinForMs }: LedgerOptions) {
  const bodies: Body[] = []
  const runs: Run[] = []
  const faults: string[] = []
  let draining = false
  const open = () => runs.filter((run) => run.end === undefined)
  const unanswered = () => bodies.filter((body) => body.status === undefined)
  const expect = (holds: boolean, fault: string) => void (holds || faults.push(fault))

  /** After the time of its body a call may end as it likes: the event is not handled. */
  const isLate = (run: Run) => run.end !== undefined && run.endedAt >= run.body.expiresAt

  /** It has a final outcome that the sender did not know when it delivered this body. */
  const settled = (text: string, body: Body) =>
    runs.some(
      (run) =>
        run.text === text &&
        (run.end === 'resolved' || run.end === 'rejected') &&
        !isLate(run) &&
        run.body.status !== undefined &&
        (!run.body.acknowledged || run.body.openThen.includes(body)),
    )

  /** How an event of a body may have ended: as its own call did, or, for a redelivery without one, as that of an earlier delivery. */
  function ends(body: Body, index: number): ReadonlySet<End | 'invalid' | 'open'> {
    const text = body.texts[index]
    if (text === invalidText) return new Set(['invalid'])
    const own = body.runs.get(index)
    if (own) return new Set([own.end ?? 'open'])
    const earlier = body.redelivered ? runs.filter((run) => run.text === text && !isLate(run)) : []
    return new Set(['open', ...earlier.map((run) => run.end ?? 'open')])
  }

  function judge(body: Body, status: Acknowledgement['status']): void {
    const each = body.texts.map((_, index) => ends(body, index))
    const all = (...wanted: (End | 'invalid' | 'open')[]) => each.every((has) => wanted.some((end) => has.has(end)))
    const any = (...wanted: (End | 'invalid' | 'open')[]) => each.some((has) => wanted.some((end) => has.has(end)))
    const right = {
      200: all('resolved'),
      400: all('resolved', 'rejected', 'invalid') && any('rejected', 'invalid'),
      500: all('resolved', 'rejected', 'invalid', 'threw') && any('threw'),
      503: any('open') || now() >= body.expiresAt,
    }
    expect(right[status], `${status} for ${body.texts.join()} that ended ${each.map((end) => [...end].join('|'))}`)
  }

  return {
    bodies,
    runs,
    faults,
    open,
    deliver(body: Body): void {
      bodies.push(body)
    },
    /** The handler is called. */
    begin(body: Body, index: number): Run {
      const run: Run = { text: body.texts[index] ?? '', body, end: undefined, endedAt: 0 }
      expect(!draining, 'an event began while draining')
      expect(body.status === undefined, 'an event began after its body was answered')
      expect(!body.runs.has(index), 'an event of a body began twice')
      expect(open().length < maxConcurrency, 'more events ran than may')
      if (body.redelivered) {
        const joinable = open().some((other) => other.text === run.text && now() - other.body.arrivedAt < joinForMs)
        expect(!joinable, 'a redelivered event began while it still ran')
        expect(!settled(run.text, body), 'a redelivered event began that was settled')
      }
      body.runs.set(index, run)
      runs.push(run)
      return run
    },
    endRun(run: Run, how: End): void {
      run.end = how
      run.endedAt = now()
    },
    answer(body: Body, status: Acknowledgement['status']): boolean {
      expect(body.status === undefined, 'a body was answered twice')
      judge(body, status)
      body.status = status
      body.acknowledged = status === 200 && !body.gone
      body.openThen = unanswered()
      return !body.gone
    },
    drain: () => (draining = true),
    /** Everybody has heard of everything that happened: nothing waits that need not. */
    rest(running: number, waiting: number): void {
      expect(running === open().length, `${running} events run, not ${open().length}`)
      expect(waiting === 0 || running === maxConcurrency, 'a body waits although there is room')
      expect(waiting <= unanswered().length, 'a body waits for room that has its answer')
      expect(!draining || waiting === 0, 'a body waits for room while draining')
      for (const body of unanswered()) {
        const awaited = open().some(({ text }) => body.texts.includes(text))
        expect(now() < body.expiresAt, 'a body was not answered when its time was over')
        expect(awaited || waiting > 0, 'a body is not answered, and nothing is under way for it')
        // A redelivery begins to wait when the call that it had joined ends late.
        const joined = runs.filter((run) => isLate(run) && body.texts.includes(run.text))
        const since = Math.max(body.dispatchedAt, ...joined.map(({ endedAt }) => endedAt))
        expect(awaited || body.runs.size > 0 || now() < since + 3_000, 'a body waited for over 3 s')
      }
    },
    /** Nothing is under way any more. */
    end(): void {
      expect(open().length === 0, 'an event still runs')
      expect(unanswered().length === 0, 'a body was never answered')
    },
  }
}
