// Options of `check` parsed: `--only`, `--skip`, `--strict`, `--wait`, `--offline`; which checks they select.

import { didYouMean } from '../../../support/text/nearest-name.ts'
import { type CheckId, checkIds, idsNamed } from '../../check/report/check-ids.ts'
import { componentOptions, readComponentOptions } from '../files/checked-components.ts'
import { wrongOption } from '../usage-error.ts'
import { readDuration } from './duration-option.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { flag, parseOptions, text } from './parse-options.ts'

const texts = { ...text, multiple: true } as const
const known = {
  ...componentOptions,
  ...emulatorOptions,
  offline: flag,
  only: texts,
  skip: texts,
  strict: texts,
  wait: text,
  'round-trip': flag,
  event: texts,
  sidecar: text,
  json: flag,
} as const

/** Reads the options of `check`. Throws a UsageError. */
export function readCheckOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { offline = false, 'round-trip': roundTrip = false, event: events = [] } = values
  if (offline && roundTrip) throw wrongOption('--round-trip publishes an event, which --offline rules out')
  const sidecar = readSidecar(values.sidecar)
  if (offline && sidecar) throw wrongOption('--sidecar asks for health, which --offline rules out')
  const only = idsOf('only', values.only)
  const skip = idsOf('skip', values.skip)

  /** A sample event alone selects the files and the filters. */
  function isSelected(id: CheckId): boolean {
    if (id === 'machine/sidecar' && !sidecar) return false
    if (only.length > 0) return only.includes(id)
    if (id.startsWith('files/')) return true
    if (id === 'filters/event') return events.length > 0
    return offline ? id === 'machine/port' : roundTrip || events.length === 0
  }

  return {
    ...{ ...readComponentOptions(values), roundTrip, events, offline, sidecar },
    emulator: readEmulatorOptions(values),
    selected: new Set(checkIds.filter((id) => isSelected(id) && !skip.includes(id))),
    strict: new Set(idsOf('strict', values.strict)),
    waitMs: readDuration('wait', values.wait) ?? 0,
    json: values.json ?? false,
  }
}

function readSidecar(value: string | undefined): URL | undefined {
  if (value === undefined) return undefined
  const url = URL.parse(value)
  if (url && /^https?:$/.test(url.protocol)) return url
  throw wrongOption(`--sidecar takes a URL such as http://127.0.0.1:9464, not ${JSON.stringify(value)}`)
}

function idsOf(option: string, given: readonly string[] = []): readonly CheckId[] {
  const words = given.flatMap((value) => value.split(',')).map((word) => word.trim())
  return words.flatMap((word) => {
    const ids = idsNamed(word)
    if (ids.length > 0) return ids
    const groups = checkIds.map((id) => id.split('/')[0] ?? id)
    const hint = didYouMean(word, [...checkIds, ...groups]) ?? `there are ${checkIds.join(', ')}`
    throw wrongOption(`--${option}: there is no check ${JSON.stringify(word)}; ${hint}`)
  })
}
