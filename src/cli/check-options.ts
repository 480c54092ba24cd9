import { type CheckId, checkIds, idsNamed } from '../check/check-ids.ts'
import { BrokenRule } from '../metadata/broken-rule.ts'
import { parseDuration } from '../metadata/plain-values.ts'
import { didYouMean } from '../support/nearest-name.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { parseOptions } from './parse-options.ts'
import { UsageError } from './usage-error.ts'

export const defaultComponents = './components'

export type CheckOptions = ReturnType<typeof readCheckOptions>

const text = { type: 'string' } as const
const texts = { type: 'string', multiple: true } as const
const flag = { type: 'boolean' } as const
const known = {
  components: texts,
  component: text,
  secrets: text,
  ...emulatorOptions,
  offline: flag,
  only: texts,
  skip: texts,
  wait: text,
  'round-trip': flag,
  event: texts,
  json: flag,
} as const

/** Reads the options of `check`. Throws a UsageError. */
export function readCheckOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { component, secrets, offline = false, 'round-trip': roundTrip = false, event: events = [] } = values
  if (offline && roundTrip) throw wrong('--round-trip publishes an event, which --offline rules out')
  const only = idsOf('only', values.only)
  const skip = idsOf('skip', values.skip)
  return {
    ...{ component, secrets, roundTrip, events, offline },
    components: values.components ?? [defaultComponents],
    emulator: readEmulatorOptions(values),
    selected: selectChecks({ only, skip, offline, roundTrip, event: events.length > 0 }),
    waitMs: waitOf(values.wait),
    json: values.json ?? false,
  }
}

interface Wanted {
  /** Empty: no restriction. */
  readonly only: readonly CheckId[]
  readonly skip: readonly CheckId[]
  readonly offline: boolean
  readonly event: boolean
  readonly roundTrip: boolean
}

/** The ids of the checks to run. A sample event alone selects the files and the filters. */
function selectChecks({ only, skip, offline, event, roundTrip }: Wanted): ReadonlySet<CheckId> {
  const asked = checkIds.filter((id) => {
    if (only.length > 0) return only.includes(id)
    if (id.startsWith('files/')) return true
    if (id === 'filters/event') return event
    if (offline) return id === 'machine/port'
    return roundTrip || !event
  })
  return new Set(asked.filter((id) => !skip.includes(id)))
}

function idsOf(option: string, given: readonly string[] = []): readonly CheckId[] {
  const words = given.flatMap((value) => value.split(',')).map((word) => word.trim())
  return words.flatMap((word) => {
    const ids = idsNamed(word)
    if (ids.length > 0) return ids
    const groups = checkIds.map((id) => id.split('/')[0] ?? id)
    const hint = didYouMean(word, [...checkIds, ...groups]) ?? `there are ${checkIds.join(', ')}`
    throw wrong(`--${option}: there is no check ${JSON.stringify(word)}; ${hint}`)
  })
}

function waitOf(value: string | undefined): number {
  if (value === undefined) return 0
  try {
    return parseDuration(value, { atLeast: '1s', atMost: '24h' })
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
    throw wrong(`--wait ${error.rule}, like 2m, not ${JSON.stringify(value)}`)
  }
}

const wrong = (message: string) => new UsageError(message, { showHelp: true })
