import { BindingError, whatIsWrong } from '../core/errors.ts'
import type { CheckId } from './check-ids.ts'
import { type Finding, failed } from './finding.ts'

export interface Check {
  readonly id: CheckId
  /** The checks that must not have failed. Those that are not run count as fine. */
  readonly needs: readonly CheckId[]
  /** Longest time, in ms. @default 10_000 */
  readonly limitMs?: number
  run(signal: AbortSignal): Finding | Promise<Finding>
}

export interface Outcome {
  readonly id: CheckId
  readonly status: Finding['status'] | 'skipped'
  readonly detail: string
  readonly remedy?: string | undefined
  readonly ms: number
}

export interface RunOptions {
  readonly signal: AbortSignal
  readonly clean: (text: string) => string
  readonly onStart?: (id: CheckId) => void
  readonly onEnd?: (outcome: Outcome) => void
}

const usualLimitMs = 10_000

interface Answered {
  readonly finding?: Finding
  /** The failed check at the root, if there is one. */
  readonly root?: CheckId
  readonly ms: number
}

/**
 * Runs checks; those that do not depend on each other run at once. A check that depends on a failed one is skipped. A check that
 * throws or takes too long has failed and stops no other. Resolves with the outcomes in the given order.
 */
export async function runChecks(checks: readonly Check[], options: RunOptions): Promise<readonly Outcome[]> {
  const { signal, clean, onStart, onEnd } = options
  const asked = new Map<CheckId, Promise<Answered>>()
  const ended = new Map<CheckId, Promise<Answered>>()

  async function ask(check: Check): Promise<Answered> {
    const needed = await Promise.all(check.needs.map((id) => ended.get(id)))
    const root = needed.find((one) => one?.root !== undefined)?.root
    if (root !== undefined) return { root, ms: 0 }
    onStart?.(check.id)
    const started = performance.now()
    const finding = await askInTime(check, signal)
    const ms = Math.round(performance.now() - started)
    return { finding, ms, ...(finding.status === 'failed' && { root: check.id }) }
  }

  /** Attributes a failure to the check that reports its cause, if that one failed too. */
  async function end({ id }: Check): Promise<Answered> {
    const answered = await asked.get(id)
    if (!answered) return { ms: 0 }
    const elsewhere = answered.finding?.belongsTo
    const other = elsewhere === undefined ? undefined : await asked.get(elsewhere)
    if (other?.root === undefined) return answered
    return { root: other.root, ms: answered.ms }
  }

  // All promises must exist before the first check looks for those that it needs.
  const { promise: start, resolve: begin } = Promise.withResolvers<void>()
  for (const check of checks) {
    asked.set(
      check.id,
      start.then(() => ask(check)),
    )
    ended.set(
      check.id,
      start.then(() => end(check)),
    )
  }
  begin()
  return Promise.all(
    checks.map(async ({ id }) => {
      const outcome = outcomeOf(id, (await ended.get(id)) ?? { ms: 0 }, clean)
      onEnd?.(outcome)
      return outcome
    }),
  )
}

function outcomeOf(id: CheckId, { finding, root, ms }: Answered, clean: RunOptions['clean']): Outcome {
  if (!finding || (root !== undefined && root !== id)) {
    return { id, status: 'skipped', detail: `${root ?? 'a check that it needs'} failed`, ms }
  }
  const { status, detail, remedy } = finding
  return { id, status, detail: clean(detail), ...(remedy !== undefined && { remedy: clean(remedy) }), ms }
}

async function askInTime({ run, limitMs = usualLimitMs }: Check, whole: AbortSignal): Promise<Finding> {
  const over = new AbortController()
  const signal = AbortSignal.any([whole, over.signal])
  const { promise: late, resolve } = Promise.withResolvers<Finding>()
  const timer = setTimeout(() => {
    resolve(
      failed(`no answer within ${limitMs / 1_000} s`, {
        remedy: 'run it again; then check the network between here and there',
      }),
    )
    over.abort()
  }, limitMs)
  const ask = async () => run(signal)
  try {
    return await Promise.race([ask(), late])
  } catch (error) {
    if (error instanceof BindingError) return failed(whatIsWrong(error), { remedy: error.fix })
    return failed(
      `the check itself broke: ${error instanceof Error ? `${error.name}: ${error.message}` : 'for no known reason'}`,
      {
        remedy: 'this is a fault of eventgrid-binding: report it, with this line',
      },
    )
  } finally {
    clearTimeout(timer)
  }
}
