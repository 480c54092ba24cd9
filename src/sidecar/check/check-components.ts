/** Checks components one after another, and with `--wait` again until all is well. */
import { hideSecrets, querySecrets } from '../../core/scrub.ts'
import { Secret } from '../../core/secret.ts'
import { printable } from '../../support/text/text.ts'
import { systemClock } from '../../support/time/clock.ts'
import { type ComponentChecksOptions, componentChecks } from './component-checks.ts'
import type { Finding } from './finding.ts'
import type { CheckedComponent } from './load-checked.ts'
import type { CheckId, CheckOutcome, CheckReport, ComponentReport } from './report.ts'
import { type Check, runChecks } from './run-checks.ts'

/** Receives the progress of the checks, in the order of the report. */
export interface CheckObserver {
  component(name: string | null, file: string): void
  underWay(ids: readonly CheckId[]): void
  ended(outcome: CheckOutcome): void
  /** These failed and run again after a pause. */
  waiting(failed: readonly CheckId[]): void
}

export interface CheckComponentsOptions extends Omit<ComponentChecksOptions, 'component' | 'portTakenBy' | 'signal'> {
  readonly components: readonly CheckedComponent[]
  /** Reads the components again, for another round. */
  reload(): Promise<readonly CheckedComponent[]>
  /** How long to repeat failed checks, in ms. 0: not at all. */
  readonly waitMs: number
  readonly observer: CheckObserver | undefined
}

const pauseMs = 2_000

export async function checkComponents(options: CheckComponentsOptions): Promise<CheckReport> {
  const { waitMs, observer, reload } = options
  const deadline = performance.now() + waitMs
  let { components } = options
  let before: ReadonlyMap<string, readonly CheckOutcome[]> = new Map()
  for (;;) {
    const reports: ComponentReport[] = []
    const now = new Map<string, readonly CheckOutcome[]>()
    for (const component of components) {
      const taken = portTakenBy(component, components)
      const same = component.fingerprint && JSON.stringify([component.name, component.fingerprint, taken])
      const report = await checkOne(component, taken, before.get(same ?? '') ?? [], options)
      if (same !== undefined) now.set(same, report.checks)
      reports.push(report)
    }
    const outcomes = reports.flatMap(({ checks }) => checks)
    const failed = new Set(outcomes.filter(({ status }) => status === 'failed').map(({ id }) => id))
    if (failed.size === 0 || performance.now() + pauseMs >= deadline) {
      if (waitMs > 0) replay(reports, observer)
      return { version: 1, ok: failed.size === 0, components: reports }
    }
    observer?.waiting([...failed])
    before = now
    await new Promise<void>((resolve) => systemClock.setTimer(pauseMs, resolve))
    components = await reload()
  }
}

/** @param before the outcomes of the round before, if the component is the same: what was well is not asked again */
async function checkOne(
  component: CheckedComponent,
  portTakenBy: string | undefined,
  before: readonly CheckOutcome[],
  options: CheckComponentsOptions,
): Promise<ComponentReport> {
  const { observer, waitMs, surroundings } = options
  const { name, file } = component
  const ended = new AbortController()
  const { signal } = ended
  const { checks, close } = componentChecks({ ...options, component, portTakenBy, signal })
  const asked = checks
    .filter(({ id }) => surroundings.selected.has(id) || (!component.metadata && id.startsWith('files/')))
    .map((check) => unlessWell(check, before))
  if (waitMs === 0 && asked.length > 0) observer?.component(name, file)
  try {
    const outcomes = await runChecks(asked, {
      signal,
      clean: createClean(component.properties),
      onRunning: (ids) => observer?.underWay(ids),
      onEnd: (outcome) => waitMs === 0 && observer?.ended(outcome),
    })
    return { name, file, checks: outcomes }
  } finally {
    await close()
    ended.abort()
  }
}

/** A check that was well in the round before gives that finding again, and does not run. Checks of the files always run. */
function unlessWell(check: Check, before: readonly CheckOutcome[]): Check {
  const known = check.id.startsWith('files/') ? undefined : before.find(({ id }) => id === check.id)
  if (known?.status !== 'ok' && known?.status !== 'warning') return check
  return { ...check, run: (): Finding => known }
}

function replay(reports: readonly ComponentReport[], observer: CheckObserver | undefined): void {
  for (const { name, file, checks } of reports) {
    if (checks.length > 0) observer?.component(name, file)
    for (const outcome of checks) observer?.ended(outcome)
  }
}

/** The first component with the same `handshakePort`, unless that is this one. */
function portTakenBy(component: CheckedComponent, all: readonly CheckedComponent[]): string | undefined {
  const portOf = ({ metadata }: CheckedComponent) => metadata?.push?.handshakePort || undefined
  const port = portOf(component)
  const first = port === undefined ? undefined : all.find((one) => portOf(one) === port)
  return first === component ? undefined : (first?.name ?? undefined)
}

const maxLines = 60
const maxLineLength = 2_000

/**
 * Makes a function that hides the secrets of a component in a text and removes control characters. What comes from outside was
 * scrubbed where it came in. In our own words a secret that is an English word would blot out the word.
 */
function createClean(properties: Readonly<Record<string, unknown>>): (text: string) => string {
  const secrets = Object.values(properties)
    .flatMap((value) => (value instanceof Secret ? value.reveal() : []))
    .flatMap((text) => [text, ...(/^https?:/i.test(text) && URL.canParse(text) ? querySecrets(text) : [])])
    .filter((text) => !isWord(text))
  return (text) =>
    text
      .split('\n')
      .slice(0, maxLines)
      .map((line) => hideSecrets(printable(line), secrets).slice(0, maxLineLength))
      .join('\n')
}

/** Could the text be a word of our own sentences? */
const isWord = (text: string) => text.length < 4 || /^[A-Za-z]{1,20}$/.test(text)
