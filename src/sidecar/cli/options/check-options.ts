/** The options of `check`, and which checks they select. */
import { flag, parseOptions, text, texts, wrongOption } from '../../../support/command-line/options.ts'
import { didYouMean } from '../../../support/text/nearest-name.ts'
import { type CheckId, checkIds } from '../../check/report.ts'
import { chosenOptions, readComponentOptions, readDuration } from './component-options.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'

export const checkOptions = {
  ...chosenOptions,
  ...emulatorOptions,
  offline: flag('check the files and the port only: no network'),
  only: texts('ID,...', 'these checks and no others, such as endpoint or azure/permission'),
  skip: texts('ID,...', 'all but these'),
  strict: texts('ID,...', 'a warning of these checks counts as a failure'),
  wait: text('DURATION', 'repeat failed checks until none fails, for at most this time, such as 2m'),
  'round-trip': flag('publish one event (type eventgrid-binding.check) and wait until it is delivered here'),
  sidecar: text('URL', 'ask a running serve or run, at its --metrics-port, whether the component is initialised there'),
  json: flag('the report as JSON (docs/check.md)'),
}

export function readCheckOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), checkOptions)
  const { offline = false, 'round-trip': roundTrip = false } = values
  if (offline && roundTrip) throw wrongOption('--round-trip publishes an event, which --offline rules out')
  const sidecar = readSidecar(values.sidecar)
  if (offline && sidecar) throw wrongOption('--sidecar asks for health, which --offline rules out')
  const words = wordsOf(values.only)
  const only = words.flatMap((word) => idsOf('only', word))
  const skip = wordsOf(values.skip).flatMap((word) => idsOf('skip', word))

  /** Why a check cannot run, for lack of an option or because of `--offline`. */
  function lacks(id: CheckId): string | undefined {
    if (id === 'round-trip/event' && !roundTrip) return `${id} needs --round-trip`
    if (id === 'machine/sidecar' && !sidecar) return `${id} needs --sidecar`
    return offline && !isOffline(id) ? `--offline rules out ${id}` : undefined
  }

  const isSelected = (id: CheckId) =>
    lacks(id) === undefined && !skip.includes(id) && (only.length === 0 || only.includes(id))

  for (const word of words) {
    const whys = idsOf('only', word).map(lacks)
    if (whys.every((why) => why !== undefined)) throw wrongOption(`--only ${word}: ${whys[0]}`)
  }
  const selected = new Set(checkIds.filter(isSelected))
  if (selected.size === 0) throw wrongOption('--skip leaves no check')

  return {
    ...readComponentOptions(values),
    roundTrip,
    offline,
    sidecar,
    emulator: readEmulatorOptions(values),
    selected,
    strict: new Set(wordsOf(values.strict).flatMap((word) => idsOf('strict', word))),
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

const isOffline = (id: CheckId) => /^files\/|^machine\/port$/.test(id)

const wordsOf = (given: readonly string[] = []) => given.flatMap((value) => value.split(',')).map((word) => word.trim())

/** The ids that a word names: an id itself, or its first part. */
function idsOf(option: string, word: string): readonly CheckId[] {
  const ids = checkIds.filter((id) => id === word || id.startsWith(`${word}/`))
  if (ids.length > 0) return ids
  const groups = checkIds.map((id) => id.split('/')[0] ?? id)
  const hint = didYouMean(word, [...checkIds, ...groups]) ?? `there are ${checkIds.join(', ')}`
  throw wrongOption(`--${option}: there is no check ${JSON.stringify(word)}; ${hint}`)
}
