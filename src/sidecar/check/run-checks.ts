/** Runs checks at once, each within its time, and leaves out each check that needs a failed check. */
import { BindingError } from '../../core/errors.ts'
import type { FieldName } from '../../metadata/fields/find-field.ts'
import { systemClock, within } from '../../support/time/clock.ts'
import { type Finding, failed, failedBy } from './finding.ts'
import type { CheckId, CheckOutcome } from './report.ts'

export interface Check {
  readonly id: CheckId
  /** The checks that must not have failed. A check that is not run counts as fine. */
  readonly needs: readonly CheckId[]
  /** The metadata field that its failures and warnings are about, where they name no other. @default none */
  readonly field?: FieldName
  /** Longest time, in ms. @default 10_000 */
  readonly limitMs?: number
  run(signal: AbortSignal): Finding | Promise<Finding>
}

export interface CheckRunOptions {
  readonly signal: AbortSignal
  readonly clean: (text: string) => string
  /** Receives the checks that run, each time that this changes. */
  readonly onRunning?: (ids: readonly CheckId[]) => void
  /** Receives each outcome, in the order of the checks. */
  readonly onEnd?: ((outcome: CheckOutcome) => void) | undefined
}

interface Answered {
  readonly finding?: Finding
  /** The failed check at the root, if there is one. */
  readonly root?: CheckId
  readonly ms: number
}

/**
 * Runs checks; those that do not depend on each other run at once. Each must come after those that it needs. A check that depends on a
 * failed one is skipped. A check that throws or takes too long has failed and stops no other. Resolves with the outcomes in the order of
 * the checks.
 */
export async function runChecks(checks: readonly Check[], options: CheckRunOptions): Promise<CheckOutcome[]> {
  const { signal, clean, onRunning, onEnd } = options
  const asked = new Map<CheckId, Promise<Answered>>()
  const ended = new Map<CheckId, Promise<Answered>>()
  const running = new Set<CheckId>()

  async function ask(check: Check): Promise<Answered> {
    const needed = await Promise.all(check.needs.map((id) => ended.get(id)))
    const root = needed.find((one) => one?.root !== undefined)?.root
    if (root !== undefined) return { root, ms: 0 }
    onRunning?.([...running.add(check.id)])
    const started = performance.now()
    const finding = await askInTime(check, signal)
    running.delete(check.id)
    onRunning?.([...running])
    const ms = Math.round(performance.now() - started)
    return { finding, ms, ...(finding.status === 'failed' && { root: check.id }) }
  }

  /** Attributes a failure to the check that reports its cause, if that one failed too. */
  async function end({ id }: Check, answer: Promise<Answered>): Promise<Answered> {
    const { finding, ms } = await answer
    const elsewhere = finding?.belongsTo
    const other = elsewhere === undefined || elsewhere === id ? undefined : await asked.get(elsewhere)
    // Of two failures that belong to each other none would be told.
    if (other?.root === undefined || other.finding?.belongsTo === id) return answer
    return { root: other.root, ms }
  }

  for (const check of checks) {
    const answer = ask(check)
    asked.set(check.id, answer)
    ended.set(check.id, end(check, answer))
  }
  const outcomes: CheckOutcome[] = []
  for (const check of checks) {
    const outcome = outcomeOf(check, await ended.get(check.id), clean)
    onEnd?.(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

function outcomeOf(
  { id, field }: Check,
  { finding, root, ms }: Answered = { ms: 0 },
  clean: CheckRunOptions['clean'],
): CheckOutcome {
  if (!finding) return { id, status: 'skipped', detail: `${root} failed`, ms }
  const { status, detail, remedy } = finding
  const about = status === 'failed' || status === 'warning' ? (finding.field ?? field) : undefined
  return {
    id,
    status,
    detail: clean(detail),
    ...(remedy !== undefined && { remedy: clean(remedy) }),
    ...(about !== undefined && { field: clean(about) }),
    ms,
  }
}

async function askInTime({ run, limitMs = 10_000 }: Check, whole: AbortSignal): Promise<Finding> {
  const over = new AbortController()
  try {
    const asked = (async () => run(AbortSignal.any([whole, over.signal])))()
    if (await within(systemClock, limitMs, asked)) return await asked
    over.abort()
    const remedy = 'run it again; then check the network between here and there'
    return failed(`no answer within ${limitMs / 1_000} s`, { remedy })
  } catch (error) {
    if (error instanceof BindingError) return failedBy(error)
    const why = error instanceof Error ? `${error.name}: ${error.message}` : 'for no known reason'
    const remedy = 'this is a fault of eventgrid-binding: report it, with this line'
    return failed(`the check itself broke: ${why}`, { remedy })
  }
}
