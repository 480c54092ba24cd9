/** The command `replay` shows its progress, and lists what can't be published. */
import { createOutputSide } from '../../../binding/sides/output-side.ts'
import { isBindingError } from '../../../core/errors.ts'
import { silentLogger } from '../../../core/logger.ts'
import { BrokenRule } from '../../../metadata/fields/faults.ts'
import { parseDuration } from '../../../metadata/fields/rules.ts'
import type { OutputMetadata } from '../../../metadata/typed/metadata.ts'
import {
  flag,
  optionLines,
  parseOptionsAndPaths,
  readNumber,
  text,
  texts,
  UsageError,
  wrongOption,
} from '../../../support/command-line/options.ts'
import { awaitEnd, exitCodeOf } from '../../../support/command-line/run-command.ts'
import type { Terminal } from '../../../support/command-line/terminal.ts'
import { messageOf } from '../../../support/process/error-code.ts'
import { findDeadLetterFiles } from '../../replay/dead-letters.ts'
import { type ReplayCounts, type ReplayReport, replay, type Unpublishable } from '../../replay/replay.ts'
import { targetName, targetTopic } from '../../replay/target-topic.ts'
import { usableComponents } from '../options/checked-components.ts'
import { chosenOptions, readComponentOptions } from '../options/component-options.ts'
import { emulatorOptions, endpointsOf, readEmulatorOptions, withEmulatorUrl } from '../options/emulator-option.ts'

const known = {
  ...chosenOptions,
  ...emulatorOptions,
  since: text('TIME', 'only what became a dead letter since then, such as 2026-01-31T12:00:00Z or 48h (ago)'),
  type: texts('TYPE,...', 'only events of these types; repeatable'),
  rate: text('N', 'publish at most so many events a second (default: as fast as the topic takes them)'),
  'dry-run': flag('publish nothing, and say what would be published, and where to'),
}

export const help = `Usage: eventgrid-binding replay --component NAME [options] PATH...

Publishes dead letters again, each event once. PATH is a file, or a folder with
.json files in it, as Event Grid writes them to a container:

  az storage blob download-batch --source CONTAINER --destination dead-letters

A ledger beside the files (eventgrid-replay.db) has what was published, and to
which topic: a rehearsal with --emulator, or another topic, does not count.
Start replay again, and it goes on from there. It changes no other file.

Options:
${optionLines(22, known)}

A first SIGINT or SIGTERM takes no more events and waits for those under way; a
second one ends at once.

Exit codes: 0 all is published; 1 something can't be published, the topic takes
nothing, or another replay has the folder; 2 wrong usage or configuration;
129, 130 or 143 a signal ended it before all was tried.
`

/** Shortest time between two updates of the progress, in ms. */
const progressMs = 100

/** Resolves with the exit code. Throws a UsageError for wrong options, and for paths or a component that can't be read. */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal = awaitEnd().stopping,
): Promise<number> {
  const options = readOptions(args)
  const [component] = await usableComponents(options)
  const output = component?.metadata.output
  if (!output) {
    const fields = 'topicEndpoint and accessKey (or topicAuthentication: entra)'
    throw new UsageError(`component ${JSON.stringify(options.component)} does not publish: it lacks ${fields}`)
  }
  const files = await findDeadLetterFiles(options.paths).catch((error: unknown) => {
    throw new UsageError(`the dead letters can't be read: ${messageOf(error)}`, { cause: error })
  })
  const side = options.dryRun ? undefined : await openOutput(output, options)
  let shownAt = Number.NEGATIVE_INFINITY
  try {
    const report = await replay({
      files,
      output: side,
      signal,
      ...targetTopic(output),
      target: targetName(output.topicEndpoint, options.emulator?.url),
      rate: options.rate,
      isWanted: ({ type, time }) =>
        (options.types.size === 0 || options.types.has(type)) &&
        (options.since === undefined || (time !== undefined && time >= options.since)),
      onProgress(counts) {
        const now = performance.now()
        if (now - shownAt < progressMs) return
        shownAt = now
        terminal.update(progressOf(counts, files.length))
      },
    }).finally(terminal.finish)
    for (const one of report.unpublishable) terminal.line(placeOf(one))
    const where = options.dryRun ? ` to ${topicInWords(output, options)}` : ''
    terminal.line(files.length === 0 ? 'no .json file is there: nothing to publish' : summaryOf(report, options, where))
    if (report.ended !== undefined) throw withRemedy(report.ended)
    if (signal.aborted && report.counts.notTried > 0) return exitCodeOf(signal)
    return report.counts.unpublishable > 0 ? 1 : 0
  } finally {
    await side?.close()
  }
}

type ReplayCommandOptions = ReturnType<typeof readOptions>

function readOptions(args: readonly string[]) {
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
    since: values.since === undefined ? undefined : sinceOf(values.since),
    /** Empty: all. */
    types: new Set((values.type ?? []).flatMap((one) => one.split(',')).map((one) => one.trim())),
    rate: values.rate === undefined ? undefined : readNumber('rate', values.rate, [1, 100_000]),
    dryRun: values['dry-run'] ?? false,
  }
}

/** A time without a zone is in UTC, as Azure's are. */
const timePattern = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/i

function sinceOf(value: string): number {
  const match = timePattern.exec(value)
  const isUtc = value.includes('T') && match?.[1] === undefined
  try {
    const time = match
      ? Date.parse(isUtc ? `${value}Z` : value)
      : Date.now() - parseDuration(value, { atLeast: '1s', atMost: '100000h' })
    if (!Number.isNaN(time)) return time
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error
  }
  const forms = 'a time or a duration, like 2026-01-31T12:00:00Z or 48h'
  throw wrongOption(`--since takes ${forms}, not ${JSON.stringify(value)}`)
}

/** The remedy where the topic takes fewer events a second than were sent. */
function withRemedy(error: unknown): unknown {
  const tooFast = isBindingError(error) && error.code === 'PUBLISH_UNAVAILABLE' && error.details.status === 429
  if (!tooFast) return error
  const fix =
    'start again with --rate N: N events a second, fewer than the topic takes; those published are in the ledger'
  return new Error(`${error.message}; ${fix}`, { cause: error })
}

const topicInWords = ({ topicEndpoint }: OutputMetadata, { emulator }: ReplayCommandOptions) =>
  `${targetName(topicEndpoint, undefined)}${emulator === undefined ? '' : `, as the emulator at ${emulator.url} has it`}`

async function openOutput(output: OutputMetadata, { emulator }: ReplayCommandOptions) {
  const endpoints = await endpointsOf(emulator)
  return createOutputSide(output, { endpoints, hostCredential: undefined, logger: silentLogger })
}

const progressOf = ({ published, files }: ReplayCounts, all: number) =>
  `${events(published)} published, file ${files} of ${all}`

const placeOf = ({ path, index, id, why }: Unpublishable) =>
  `not published: ${path}${index === undefined ? '' : ` [${index}]`}${id === undefined ? '' : ` (id ${JSON.stringify(id)})`}: ${why}`

function summaryOf({ counts, unpublishable }: ReplayReport, { dryRun }: ReplayCommandOptions, where: string): string {
  const more = counts.unpublishable - unpublishable.length
  const parts: readonly (readonly [number, string])[] = [
    [counts.converted, "of them in the topic's own schema"],
    [counts.again, 'of them perhaps for the second time, as they were under way when a replay ended'],
    [counts.unrecorded, 'of them not entered in the ledger: the next replay publishes these again'],
    [counts.known, 'published before'],
    [counts.duplicates, counts.duplicates === 1 ? 'duplicate in the files' : 'duplicates in the files'],
    [counts.leftOut, 'left out by --since or --type'],
    [counts.unpublishable, more > 0 ? `not published (${more} of them not listed)` : 'not published'],
    [counts.failed, 'failed'],
    [counts.notTried, 'not tried'],
  ]
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return [`${events(counts.published)} ${dryRun ? 'would be published' : 'published'}${where}`, ...told].join(', ')
}

const events = (count: number) => (count === 1 ? '1 event' : `${count} events`)
