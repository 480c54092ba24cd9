import { type CheckId, checkIds, idsNamed } from '../check/check-ids.ts'
import { BrokenRule } from '../metadata/broken-rule.ts'
import { parseDuration } from '../metadata/parse-duration.ts'
import { nearestName } from '../support/nearest-name.ts'
import { type EmulatorAddress, emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { parseOptions } from './parse-options.ts'
import { UsageError } from './usage-error.ts'

export const defaultComponents = './components'

export interface CheckOptions {
  readonly components: readonly string[]
  readonly component: string | undefined
  readonly secrets: string | undefined
  readonly emulator: EmulatorAddress | undefined
  readonly offline: boolean
  readonly only: readonly CheckId[]
  readonly skip: readonly CheckId[]
  readonly waitMs: number
  readonly roundTrip: boolean
  readonly events: readonly string[]
  readonly json: boolean
}

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
export function readCheckOptions(args: readonly string[]): CheckOptions {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { offline = false } = values
  const roundTrip = values['round-trip'] ?? false
  if (offline && roundTrip) throw wrong('--round-trip publishes an event, which --offline rules out')
  return {
    components: values.components ?? [defaultComponents],
    component: values.component,
    secrets: values.secrets,
    emulator: readEmulatorOptions(values),
    ...{ offline, roundTrip },
    only: idsOf('only', values.only ?? []),
    skip: idsOf('skip', values.skip ?? []),
    waitMs: waitOf(values.wait),
    events: values.event ?? [],
    json: values.json ?? false,
  }
}

function idsOf(option: string, given: readonly string[]): readonly CheckId[] {
  const words = given.flatMap((value) => value.split(',')).map((word) => word.trim())
  return words.flatMap((word) => {
    const ids = idsNamed(word)
    if (ids.length > 0) return ids
    const groups = checkIds.map((id) => id.split('/')[0] ?? id)
    const meant = nearestName(word, [...new Set([...checkIds, ...groups])])
    const hint = meant === undefined ? `there are ${checkIds.join(', ')}` : `did you mean ${meant}?`
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
