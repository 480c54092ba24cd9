/** How `emulate` starts an emulator, says what happens, and ends: under the name that a program gives the command. */
import { setTimeout as pause } from 'node:timers/promises'
import { optionLines, UsageError } from '../../../../src/support/command-line/options.ts'
import { awaitEnd, type Command, ownCommand } from '../../../../src/support/command-line/run-command.ts'
import type { Terminal } from '../../../../src/support/command-line/terminal.ts'
import { textOrError } from '../../../../src/support/files/regular-file.ts'
import { codeOf, messageOf } from '../../../../src/support/process/error-code.ts'
import { durationWords, lateReadMs, watchState } from '../../../../src/support/time/clock.ts'
import { EmulatorStateError, EventGridEmulator, type EventGridEmulatorOptions } from '../index.ts'
import { awaitHandshakes } from '../model/time/work-counter.ts'
import {
  defaultPorts,
  deliverExample,
  emulateOptions,
  type GivenBeside,
  readEmulateOptions,
} from './emulate-options.ts'
import { bannerLines, resourceIds, resourceLines } from './emulator-banner.ts'
import { fieldsForRestart, type LoadedConfig, loadConfig, readConfig } from './emulator-config.ts'
import { keepFile, openReadyFile, writeAuthority } from './own-files.ts'
import { watchParent, watchStandardInput } from './parent-end.ts'
import {
  countWords,
  deadLetterLine,
  deliveryLine,
  figuresLine,
  handshakeLine,
  requestLines,
  warningLine,
} from './record-lines.ts'

const liveLineMs = 500

/** Longer than Event Grid waits for a subscriber's answer. */
const maxDrainMs = 35_000

const remedyOfPorts = 'choose others by --port, --http-port and --blob-port'

const portTroubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; free it',
  EACCES: 'is for privileged users only; run as one',
}

const hostTroubles: ReadonlySet<string> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EINVAL'])

/** How a user starts the emulator: by a program of its own, or by a command of another. */
interface Naming {
  readonly bin: string
  readonly command?: string
  /** Further lines of usage, and of options. */
  readonly moreUsage?: string
  readonly moreOptions?: string
}

export function emulateCommand({ bin, command, moreUsage = '', moreOptions = '' }: Naming): Command {
  const after = command === undefined ? '' : ` ${command}`
  return {
    help: `Usage: ${bin}${after} [options]
${moreUsage}${about}${moreOptions}${ending}`,
    run: (args, terminal) => run(args, terminal, () => ownCommand(bin) + after),
  }
}

const about = `
Runs a local Event Grid, with Azure Resource Manager and Entra, until it is
interrupted.

Options:
${optionLines(20, emulateOptions)}
`

const ending = `
A first SIGINT or SIGTERM, or the end of what --parent or --until-stdin-ends
name, takes no more events and waits for the deliveries under way; a second
signal ends at once.

Each option is a variable too, like EVENTGRID_EMULATOR_HTTP_PORT; the command
line comes first. The values of a repeatable option have spaces between; an
option without a value is true or false.

Tests in any language control the emulator under /emulator/ on the http port:
GET /emulator/openapi.json describes the calls.
`

/** Runs until a signal. Throws a UsageError for wrong options, configuration or state. */
async function run(args: readonly string[], terminal: Terminal, startWords: () => string): Promise<number> {
  const options = readEmulateOptions(args)
  const loaded = options.config === undefined ? undefined : loadConfig(options.config)
  const settings = { ...defaultPorts, ...withGiven(loaded, options), ...options.given }
  const { port, httpPort, blobPort, storage = [] } = settings
  const ports = storage.length === 0 ? [port, httpPort] : [port, httpPort, blobPort]
  const twice = ports.find((one, at) => one !== 0 && ports.indexOf(one) < at)
  if (twice !== undefined) {
    throw new UsageError(`two of https, http and blobs can't both have port ${twice}; ${remedyOfPorts}`)
  }
  const undo: (() => unknown)[] = []
  try {
    for (const file of options.ca) undo.push(await keepFile('--ca', file))
    if (options.readyFile !== undefined) undo.push(await keepFile('--ready-file', options.readyFile))
    const ready = openReadyFile(options.readyFile)
    undo.push(ready.remove)
    const emulator = await start(settings)
    undo.push(() => emulator.close())
    const { asked, ask } = awaitEnd()
    undo.push(...watchEnds(options.ends, ask))
    const remove = writeAuthority(emulator, options.ca)
    undo.push(remove)
    // A second signal ends the process wherever it is.
    process.once('exit', remove)
    for (const line of bannerLines(emulator, options.env)) terminal.data(line)
    if (!options.quiet) undo.push(...showRecords(emulator, terminal))
    if (terminal.live) undo.push(showFigures(emulator, terminal))
    if (loaded) undo.push(followConfig(emulator, loaded, options, terminal))
    // A user who names an ingress has a program that makes the event subscription.
    if (!hasSubscriptions(emulator) && (settings.ingress ?? []).length === 0) {
      terminal.line(`next step: ${startWords()} --deliver ${deliverExample}`)
    }
    const end = await Promise.race([awaitHandshakes(emulator.idle()), asked])
    if (end === undefined) {
      ready.write(emulator.environment())
      terminal.data(`ready: ${emulator.endpoints.resourceManager} ${emulator.proxy}`)
    }
    await drain(emulator, await asked, settings.state, terminal)
    return 0
  } finally {
    for (const stop of undo.toReversed()) await stop()
    terminal.finish()
  }
}

/** Whether any event subscription exists, for push or pull: else no event goes anywhere. */
const hasSubscriptions = (emulator: EventGridEmulator) =>
  emulator.eventSubscriptions().length > 0 || emulator.queues().size > 0

async function start(options: EventGridEmulatorOptions): Promise<EventGridEmulator> {
  try {
    return await EventGridEmulator.start(options)
  } catch (error) {
    if (error instanceof EmulatorStateError) throw new UsageError(error.message, { cause: error })
    if (hostTroubles.has(codeOf(error) ?? '')) {
      throw new UsageError(`the host ${options.host} is no address of this machine; choose another by --host`)
    }
    const trouble = portTroubles[codeOf(error) ?? '']
    if (trouble !== undefined && error instanceof Error) {
      const port = 'port' in error ? error.port : 'its port'
      throw new Error(`port ${port} ${trouble}, or ${remedyOfPorts}`, { cause: error })
    }
    throw error
  }
}

/** Asks for the end when what the emulator is to end with is gone. Returns what ends the watch. */
function watchEnds(
  { parent, standardInput }: ReturnType<typeof readEmulateOptions>['ends'],
  ask: (why: string) => void,
): readonly (() => void)[] {
  return [
    ...(parent === undefined ? [] : [watchParent(parent, () => ask(`process ${parent} is gone`))]),
    ...(standardInput ? [watchStandardInput(() => ask('standard input has ended'))] : []),
  ]
}

function showRecords({ records }: EventGridEmulator, terminal: Terminal): readonly (() => void)[] {
  // Those of the configuration's event subscriptions came with the start.
  for (const record of records.warnings) terminal.parts(warningLine(record))
  const published = new Set<string>()
  return [
    records.requests.listen((record) => {
      const topic = record.publish?.events && record.publish.topic
      for (const line of requestLines(record, topic !== undefined && !published.has(topic))) terminal.parts(line)
      if (topic !== undefined) published.add(topic)
    }),
    records.handshakes.listen((record) => terminal.parts(handshakeLine(record))),
    records.deliveries.listen((record) => terminal.parts(deliveryLine(record))),
    records.deadLetters.listen((record) => terminal.parts(deadLetterLine(record))),
    records.warnings.listen((record) => terminal.parts(warningLine(record))),
  ]
}

function showFigures(emulator: EventGridEmulator, terminal: Terminal): () => void {
  let before = { at: performance.now(), published: 0 }
  const update = () => {
    const { published, ...figures } = emulator.figures()
    const at = performance.now()
    // A reset counts from 0 again.
    const perSecond = (Math.max(published - before.published, 0) * 1000) / Math.max(at - before.at, 1)
    before = { at, published }
    terminal.update(figuresLine({ ...figures, perSecond, pending: emulator.pending }))
  }
  update()
  const timer = setInterval(update, liveLineMs)
  return () => clearInterval(timer)
}

/** The options of the file, and what the command line has beside them. */
function withGiven(loaded: LoadedConfig | undefined, given: GivenBeside): EventGridEmulatorOptions {
  const { ingress, deliver } = given
  const inFile = loaded?.config.storage ?? []
  const storage = [
    ...inFile.filter(({ account }) => !given.storage.some((one) => one.account === account)),
    ...given.storage,
  ]
  return {
    ...loaded?.options,
    ingress: [...ingress, ...(loaded?.config.ingress ?? [])],
    deliver: { ...loaded?.config.deliver, ...deliver },
    ...(storage.length > 0 && { storage }),
  }
}

function followConfig(
  emulator: EventGridEmulator,
  first: LoadedConfig,
  given: GivenBeside,
  terminal: Terminal,
): () => Promise<void> {
  const { file } = first
  const read = async () => textOrError(file)
  const changed = async (text: string | Error) => {
    try {
      const read = readConfig(file, text)
      const known = resourceIds(emulator)
      emulator.reconfigure(withGiven(read, given))
      const later = fieldsForRestart(first.config, read.config)
      for (const line of resourceLines(emulator, known)) terminal.data(line)
      if (later.length > 0) terminal.line(`${file}: ${later.join(', ')} will take effect at the next start`)
      terminal.line(`${file}: taken over`)
    } catch (error) {
      for (const line of messageOf(error).split('\n')) terminal.line(line)
      terminal.line(`${file}: the previous version stays active`)
    }
  }
  const late = () =>
    terminal.line(
      `${file}: can't be read in ${durationWords(lateReadMs)}, a disk or a network mount may hang; the previous version stays active`,
    )
  return watchState({ read, known: first.text, changed, late })
}

async function drain(
  emulator: EventGridEmulator,
  signal: string,
  state: string | undefined,
  terminal: Terminal,
): Promise<void> {
  const waiting = `waiting for deliveries under way (${countWords(emulator.pending)} pending)`
  terminal.line(`${signal}: no more events are taken; ${waiting}`)
  const times = Number.POSITIVE_INFINITY
  emulator.failNext({ route: 'topic', status: 503, times, matches: ({ url }) => url.startsWith('/topics/') })
  // A receiver may still settle what it has.
  emulator.failNext({ route: 'namespace', status: 503, times, matches: { url: ':publish' } })
  // A webhook may still read the blob whose event it gets.
  const isWrite = ({ method }: { readonly method: string }) => method !== 'GET' && method !== 'HEAD'
  emulator.failNext({ route: 'blob', status: 503, times, matches: isWrite })
  await Promise.race([emulator.idle(), pause(maxDrainMs, undefined, { ref: false })])
  const { delivered, deadLettered, dropped } = emulator.figures()
  const undelivered = `${emulator.pending} undelivered and ${state === undefined ? 'lost' : 'kept in the state file'}`
  terminal.line(`ended: ${delivered} delivered, ${deadLettered} dead-lettered, ${dropped} dropped, ${undelivered}`)
}
