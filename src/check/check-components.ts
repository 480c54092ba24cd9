import { hideSecrets } from '../core/scrub.ts'
import { Secret } from '../core/secret.ts'
import { pause, systemClock } from '../support/clock.ts'
import { printable } from '../support/text.ts'
import type { SampleEvent } from './check-event.ts'
import type { CheckId } from './check-ids.ts'
import { componentChecks } from './component-checks.ts'
import type { Finding } from './finding.ts'
import type { CheckedComponent } from './load-checked.ts'
import { type CheckReport, type ComponentReport, reportOf } from './report.ts'
import { type Check, type Outcome, runChecks } from './run-checks.ts'
import type { Surroundings } from './world.ts'

/** Receives the progress of the checks, in the order of the report. */
export interface CheckObserver {
  component(name: string | null, file: string): void
  underWay(ids: readonly CheckId[]): void
  ended(outcome: Outcome): void
  /** These failed and run again after a pause. */
  waiting(failed: readonly CheckId[]): void
}

export interface CheckComponentsOptions {
  readonly components: readonly CheckedComponent[]
  /** Reads the components again, for another round. */
  reload(): Promise<readonly CheckedComponent[]>
  readonly surroundings: Surroundings
  readonly selected: ReadonlySet<CheckId>
  readonly samples: readonly SampleEvent[]
  readonly roundTrip: boolean
  /** How long to repeat failed checks, in ms. 0: not at all. */
  readonly waitMs: number
  readonly observer: CheckObserver
  readonly signal: AbortSignal
}

const pauseMs = 2_000

/** Checks components one after another. With `waitMs` it repeats what failed until all is well or the time is over. */
export async function checkComponents(options: CheckComponentsOptions): Promise<CheckReport> {
  const { waitMs, observer, signal, reload } = options
  const deadline = performance.now() + waitMs
  let { components } = options
  let known: Round['known'] = new Map()
  for (;;) {
    const reports: ComponentReport[] = []
    const ports = new Map<number, string>()
    for (const component of components) {
      reports.push(await checkOne(component, options, { known, ports }))
    }
    const failed = reports.flatMap(({ checks }) =>
      checks.filter(({ status }) => status === 'failed').map(({ id }) => id),
    )
    if (failed.length === 0 || signal.aborted || performance.now() + pauseMs >= deadline) {
      if (waitMs > 0) replay(reports, observer)
      return reportOf(reports)
    }
    observer.waiting([...new Set(failed)])
    known = new Map(
      reports.flatMap((report) =>
        report.checks.flatMap(({ id, status, detail, remedy }) =>
          status === 'ok' || status === 'warning' ? [[keyOf(report, id), { status, detail, remedy }] as const] : [],
        ),
      ),
    )
    await pause(systemClock, pauseMs, signal)
    components = await reload()
  }
}

const keyOf = ({ file, name }: Pick<ComponentReport, 'file' | 'name'>, id: CheckId) => JSON.stringify([file, name, id])

interface Round {
  /** What was well in the round before is not asked again. */
  readonly known: ReadonlyMap<string, Finding>
  /** The component of each `handshakePort`. */
  readonly ports: Map<number, string>
}

async function checkOne(
  component: CheckedComponent,
  options: CheckComponentsOptions,
  round: Round,
): Promise<ComponentReport> {
  const { name, file } = component
  const { observer, waitMs } = options
  const ended = new AbortController()
  const signal = AbortSignal.any([options.signal, ended.signal])
  const { checks, close } = componentChecks({
    ...options,
    component,
    signal,
    portTakenBy: portTakenBy(component, round.ports),
  })
  const isFault = ({ id }: Check) => !component.metadata && id.startsWith('files/')
  const wanted = checks.filter((check) => options.selected.has(check.id) || isFault(check))
  const asked = wanted.map((check): Check => {
    const before = round.known.get(keyOf(component, check.id))
    return before ? { ...check, run: () => before } : check
  })
  const inOrder = waitMs > 0 ? undefined : orderly(asked, observer)
  if (inOrder && asked.length > 0) observer.component(name, file)
  const running = new Set<CheckId>()
  try {
    const outcomes = await runChecks(asked, {
      signal,
      clean: createClean(component.properties),
      onStart(id) {
        running.add(id)
        observer.underWay([...running])
      },
      onEnd(outcome) {
        running.delete(outcome.id)
        inOrder?.(outcome)
        observer.underWay([...running])
      },
    })
    return { name, file, checks: [...outcomes] }
  } finally {
    await close()
    ended.abort()
  }
}

/** Passes outcomes on in the order of the checks: each waits for those before it. */
function orderly(checks: readonly Check[], observer: CheckObserver): (outcome: Outcome) => void {
  const held = new Map<CheckId, Outcome>()
  let next = 0
  return (outcome) => {
    held.set(outcome.id, outcome)
    for (;;) {
      const check = checks[next]
      const due = check && held.get(check.id)
      if (!due) return
      observer.ended(due)
      next++
    }
  }
}

function replay(reports: readonly ComponentReport[], observer: CheckObserver): void {
  for (const { name, file, checks } of reports) {
    if (checks.length > 0) observer.component(name, file)
    for (const outcome of checks) observer.ended(outcome)
  }
}

function portTakenBy({ name, metadata }: CheckedComponent, ports: Map<number, string>): string | undefined {
  const port = metadata?.input?.handshakePort
  if (port === undefined || port === 0 || name === null) return undefined
  const taken = ports.get(port)
  if (taken === undefined) ports.set(port, name)
  return taken
}

const maxLines = 60
const maxLineLength = 2_000

/**
 * Makes a function that hides the secrets of a component in a text and removes control characters. What comes from outside was
 * scrubbed where it came in. In our own words a secret that is an English word would blot out the word.
 */
function createClean(properties: Readonly<Record<string, unknown>>): (text: string) => string {
  const secrets = Object.values(properties).flatMap((value) => {
    const text = value instanceof Secret ? value.reveal() : ''
    return isWord(text) ? [] : [text]
  })
  return (text) =>
    text
      .split('\n')
      .slice(0, maxLines)
      .map((line) => hideSecrets(printable(line), secrets).slice(0, maxLineLength))
      .join('\n')
}

/** Could it be a word of ours? */
const isWord = (text: string) => text.length < 4 || /^[A-Za-z]{1,20}$/.test(text)
