/** The command `check`: which checks its options select, and each check as it ends. */
import { flag, optionLines, parseOptions, text, texts, wrongOption } from '../../../support/command-line/options.ts'
import type { Terminal } from '../../../support/command-line/terminal.ts'
import { didYouMean } from '../../../support/text/nearest-name.ts'
import { type CheckObserver, checkComponents } from '../../check/check-components.ts'
import type { CheckedComponent } from '../../check/load-checked.ts'
import { type CheckId, checkIds, countLine, outcomeLines } from '../../check/report.ts'
import { asked, type CheckedFiles, noneFound, readChecked, warnOfUnclaimed } from '../options/checked-components.ts'
import { type ComponentPaths, chosenOptions, readComponentOptions, readDuration } from '../options/component-options.ts'
import { emulatorOptions, endpointsOf, readEmulatorOptions, withEmulatorUrl } from '../options/emulator-option.ts'

const known = {
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

export const help = `Usage: eventgrid-binding check [options]

Finds out what is wrong with components, their public endpoints, Azure and their
topics, and says what to do. Writes nothing to Azure. Publishes an event only
with --round-trip.

Options:
${optionLines(22, known)}

Exit codes: 0 nothing failed, 1 something failed, or a check of --strict warns,
2 wrong usage or no component was found.
Environment: AZURE_RESOURCE_MANAGER_URL, AZURE_AUTHORITY_HOST and
NODE_EXTRA_CA_CERTS, as for run and serve.
`

/** Resolves with 0 where nothing failed, else 1. Throws a UsageError for wrong options, and where there is no component. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const options = readCheckOptions(args)
  const { emulator, offline, sidecar, selected, json } = options
  const endpoints = await endpointsOf(offline ? undefined : emulator)
  const read = await readChecked(options)
  const first = componentsOf(read, options)
  warnOfUnclaimed(read)
  const started = performance.now()
  const view = json ? undefined : showChecks(terminal)
  const report = await checkComponents({
    ...options,
    components: first,
    reload: async () => componentsOf(await readChecked(options), options),
    surroundings: { endpoints, emulator: emulator && endpoints.resourceManager, sidecar, selected },
    observer: view?.observer,
  }).finally(() => view?.stop())
  const outcomes = report.components.flatMap(({ checks }) => checks)
  if (json) terminal.data(JSON.stringify(report))
  else {
    terminal.line('')
    terminal.parts(countLine(outcomes, performance.now() - started))
    if (emulator && !offline) terminal.parts([{ text: `  ${emulated}`, tone: 'faint' }])
  }
  const hasStrictWarning = outcomes.some(({ id, status }) => status === 'warning' && options.strict.has(id))
  return report.ok && !hasStrictWarning ? 0 : 1
}

/** The components that are asked for. Throws a UsageError where no component is found. */
function componentsOf(read: CheckedFiles, paths: ComponentPaths): readonly CheckedComponent[] {
  const found = asked(read.all, paths.component)
  // A type or kind that is probably misspelt is a warning beside components, and the whole truth without any.
  if (!found.some(({ name, files }) => name !== null || files.yaml.status !== 'warning')) throw noneFound(paths, read)
  return found
}

const emulated = 'on the emulator: public names and certificates are not judged as Azure judges them'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const frameMs = 100

/** Writes a line for each check as it ends. On a terminal a live line says what is under way. */
function showChecks(terminal: Terminal): { readonly observer: CheckObserver; stop(): void } {
  let frame = 0
  let live = ''
  let waitingFor = ''
  const update = () => {
    if (live === '') terminal.finish()
    else terminal.update(`${frames[frame++ % frames.length]} ${live}`)
  }
  const timer = terminal.live ? setInterval(update, frameMs) : undefined
  const show = (text: string) => {
    live = text
    if (terminal.live) update()
  }
  let isFirst = true
  return {
    observer: {
      component(name, file) {
        if (!isFirst) terminal.line('')
        isFirst = false
        terminal.parts([{ text: name ?? 'no component' }, { text: `  ${file}`, tone: 'faint' }])
      },
      underWay: (ids) => show(ids.join(', ')),
      ended(outcome) {
        for (const parts of outcomeLines(outcome)) terminal.parts(parts)
      },
      waiting(failed) {
        const ids = failed.join(', ')
        show(`waiting for ${ids}`)
        // Once for each state, so that a log is not filled.
        if (!terminal.live && ids !== waitingFor) terminal.line(`waiting for ${ids}`)
        waitingFor = ids
      },
    },
    stop() {
      clearInterval(timer)
      live = ''
      terminal.finish()
    },
  }
}

export function readCheckOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
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
