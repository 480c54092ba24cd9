// Options of `replay` parsed: the paths, `--since` as a time or a duration, `--type`.
import { BrokenRule } from '../../../metadata/fields/broken-rule.ts'
import { parseDuration } from '../../../metadata/fields/plain-values.ts'
import { componentOptions, readComponentOptions } from '../files/checked-components.ts'
import { wrongOption } from '../usage-error.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { flag, parseOptionsAndPaths, text } from './parse-options.ts'

const known = {
  ...componentOptions,
  ...emulatorOptions,
  since: text,
  type: { ...text, multiple: true },
  'dry-run': flag,
} as const

export type ReplayCommandOptions = ReturnType<typeof readReplayOptions>

/** Reads the options of `replay`. Throws a UsageError. */
export function readReplayOptions(args: readonly string[], now = Date.now()) {
  const { values, positionals: paths } = parseOptionsAndPaths(withEmulatorUrl(args), known)
  const { component } = values
  if (component === undefined) throw wrongOption('--component is missing: the component that publishes the events')
  if (paths.length === 0) throw wrongOption('a file or folder with dead letters is missing')
  return {
    ...readComponentOptions(values),
    component,
    paths,
    emulator: readEmulatorOptions(values),
    /** In ms; `undefined`: from the first on. */
    since: values.since === undefined ? undefined : sinceOf(values.since, now),
    /** Empty: all. */
    types: new Set((values.type ?? []).flatMap((one) => one.split(',')).map((one) => one.trim())),
    dryRun: values['dry-run'] ?? false,
  }
}

/** A time without a zone is in UTC, as Azure's are. */
const timePattern = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/i

function sinceOf(value: string, now: number): number {
  const match = timePattern.exec(value)
  if (match) {
    const time = Date.parse(value.includes('T') && match[1] === undefined ? `${value}Z` : value)
    if (!Number.isNaN(time)) return time
  } else {
    try {
      return now - parseDuration(value, { atLeast: '1s', atMost: '100000h', unit: 'm' })
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error
    }
  }
  throw wrongOption(
    `--since takes a time or a duration, like 2026-01-31T12:00:00Z or 48h, not ${JSON.stringify(value)}`,
  )
}
