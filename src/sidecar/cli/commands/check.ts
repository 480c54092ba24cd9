/** The command `check`: it reads components, and shows each check as it ends. */
import { optionLines } from '../../../support/command-line/options.ts'
import type { Terminal } from '../../../support/command-line/terminal.ts'
import { type CheckObserver, checkComponents } from '../../check/check-components.ts'
import { countLine, outcomeLines } from '../../check/report.ts'
import { checkOptions, readCheckOptions } from '../options/check-options.ts'
import { asked, noneFound, readChecked, warnOfUnclaimed } from '../options/checked-components.ts'
import { endpointsOf } from '../options/emulator-option.ts'

export const help = `Usage: eventgrid-binding check [options]

Finds out what is wrong with components, their public endpoints, Azure and their
topics, and says what to do. Writes nothing to Azure. Publishes an event only
with --round-trip.

Options:
${optionLines(22, checkOptions)}

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
  const first = asked(read.all, options.component)
  // A type or kind that is probably misspelt is a warning beside components, and the whole truth without any.
  if (!first.some(({ name, files }) => name !== null || files.yaml.status !== 'warning')) throw noneFound(options, read)
  warnOfUnclaimed(read)
  const started = performance.now()
  const view = json ? undefined : showChecks(terminal)
  const report = await checkComponents({
    ...options,
    components: first,
    reload: async () => asked((await readChecked(options)).all, options.component),
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

const emulated = 'on the emulator: public names and certificates are not judged as Azure judges them'

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const
const frameMs = 100

/** Writes a line for each check as it ends; on a terminal a live one says what is under way. */
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
