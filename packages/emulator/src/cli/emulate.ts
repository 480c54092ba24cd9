// The emulator's command line, under the name that a program gives it: help text, ports 4430 and 4431, config reload, `--ingress`, `--deliver`, shutdown wait.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ownCommand } from '../../../../src/support/command-line/own-command.ts'
import {
  flag,
  optionLines,
  parseOptions,
  readPort,
  text,
  texts,
} from '../../../../src/support/command-line/parse-options.ts'
import { textOrError } from '../../../../src/support/command-line/read-text.ts'
import type { Command } from '../../../../src/support/command-line/run-command.ts'
import { awaitEnd } from '../../../../src/support/command-line/signals.ts'
import type { Terminal } from '../../../../src/support/command-line/terminal.ts'
import { UsageError, wrongOption } from '../../../../src/support/command-line/usage-error.ts'
import { codeOf, messageOf } from '../../../../src/support/process/error-code.ts'
import { watchState } from '../../../../src/support/time/watch-state.ts'
import { isIngressUrl } from '../delivery/send/ingress.ts'
import {
  EmulatorStateError,
  EventGridEmulator,
  type EventGridEmulatorOptions,
  type IngressRule,
  type StorageOptions,
} from '../index.ts'
import { writeAuthorityFile } from './authority-file.ts'
import { bannerLines, resourceIds, resourceLines } from './emulator-banner.ts'
import { fieldsForRestart, type LoadedConfig, loadConfig, readConfig } from './emulator-config.ts'
import {
  countWords,
  deadLetterLine,
  deliveryLine,
  figuresLine,
  handshakeLine,
  requestLines,
  warningLine,
} from './record-lines.ts'

/** The default ports. They are fixed, so that pasted lines keep working. */
const defaultPorts = { port: 4430, httpPort: 4431 } as const

/** As in the configuration file. */
const mostPageEvents = 5000

const liveLineMs = 500

/** Longer than Event Grid waits for a subscriber's answer. */
const maxDrainMs = 35_000

const portTroubles: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use; free it',
  EACCES: 'is for privileged users only; run as one',
}

/** Of the blob endpoint of the first storage account; the next one has the next port. */
const firstStoragePort = 4432

const storageExample = 'devstoreaccount1=http://127.0.0.1:10000'
const deliverExample = 'orders=http://127.0.0.1:3000/hook'
const ingressExample = 'https://orders.example.com/=http://127.0.0.1:9000/'

const known = {
  config: text(
    'FILE',
    'topics, subscriptions, clients and their roles, ports, ingress (YAML); read again when it changes',
  ),
  state: text(
    'FILE',
    'keep topics, subscriptions, keys and undelivered events in this file, across restarts and kills',
  ),
  port: text('N', `https: Resource Manager, Entra and topics (default ${defaultPorts.port}; 0 takes a free one)`),
  'http-port': text(
    'N',
    `http: topics, the page, and a proxy for Azure's host names (default ${defaultPorts.httpPort}; 0 takes a free one)`,
  ),
  ca: text(
    'FILE',
    "write the certificate authority (PEM) here (default: a file in the system's temporary folder); a file with other content is left alone",
  ),
  ingress: texts(
    'RULE',
    'FROM=TO: serve the public URLs that begin with FROM at TO; repeatable, and before those of the file: ' +
      `--ingress ${ingressExample}`,
  ),
  deliver: texts(
    'RULE',
    `TOPIC=URL: make the topic, and deliver its events to this local URL; repeatable: --deliver ${deliverExample}`,
  ),
  storage: texts(
    'RULE',
    'ACCOUNT=URL: blobs of this Azurite raise events; clients use the blob endpoint at port 4432, the next account at 4433, ' +
      `or at yours: ACCOUNT:PORT=URL; repeatable: --storage ${storageExample}`,
  ),
  'page-events': text('N', 'the most events that the page shows, 1 to 5000 (default 300)'),
  quiet: flag('no line for each handshake, delivery and refused publish'),
}

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
${optionLines(16, known)}
`

const ending = `
A first SIGINT or SIGTERM takes no more events and waits for the deliveries
under way; a second one ends at once.
`

/** Runs until a signal. Throws a UsageError for wrong options, configuration or state. */
async function run(args: readonly string[], terminal: Terminal, startWords: () => string): Promise<number> {
  const options = readOptions(args)
  const loaded = options.config === undefined ? undefined : loadConfig(options.config)
  const settings = withStoragePorts({ ...defaultPorts, ...withGiven(loaded, options), ...options.given })
  if (settings.port !== 0 && settings.port === settings.httpPort) {
    const remedy = 'choose others by --port and --http-port'
    throw new UsageError(`https and http can't both have port ${settings.port}; ${remedy}`)
  }
  const emulator = await start(settings)
  const undo: (() => unknown)[] = []
  try {
    const { asked } = awaitEnd()
    const ca = writeAuthority(emulator, options.ca)
    undo.push(ca.remove)
    // A second signal ends the process wherever it is.
    process.once('exit', ca.remove)
    for (const line of bannerLines(emulator, ca.file)) terminal.data(line)
    if (!options.quiet) undo.push(...showRecords(emulator, terminal))
    if (terminal.live) undo.push(showFigures(emulator, terminal))
    if (loaded) undo.push(followConfig(emulator, loaded, options, terminal))
    // Whoever names an ingress has a program that makes the event subscription.
    if (!hasSubscriptions(emulator) && (settings.ingress ?? []).length === 0) {
      terminal.line(`next step: ${startWords()} --deliver ${deliverExample}`)
    }
    terminal.data(`ready: ${emulator.endpoints.resourceManager} ${emulator.proxy}`)
    await drain(emulator, await asked, settings.state, terminal)
    return 0
  } finally {
    for (const stop of undo.toReversed()) stop()
    terminal.finish()
    await emulator.close()
  }
}

/** Whether any event subscription exists, for push or pull: else no event goes anywhere. */
const hasSubscriptions = (emulator: EventGridEmulator) =>
  emulator.eventSubscriptions().length > 0 || emulator.queues().size > 0

function readOptions(args: readonly string[]) {
  const { config, ca, quiet, state, ...values } = parseOptions(args, known)
  const port = readPort('port', values.port)
  const httpPort = readPort('http-port', values['http-port'])
  const pageEvents = readPageEvents(values['page-events'])
  const given: EventGridEmulatorOptions = {
    ...(pageEvents !== undefined && { pageEvents }),
    ...(state !== undefined && { state: resolve(state) }),
    ...(port !== undefined && { port }),
    ...(httpPort !== undefined && { httpPort }),
  }
  const beside: GivenBeside = {
    ingress: readIngress(values.ingress ?? []),
    deliver: readDeliver(values.deliver ?? []),
    storage: readStorage(values.storage ?? []),
  }
  return { config, ca, quiet, given, ...beside }
}

async function start(options: EventGridEmulatorOptions): Promise<EventGridEmulator> {
  try {
    return await EventGridEmulator.start(options)
  } catch (error) {
    if (error instanceof EmulatorStateError) throw new UsageError(error.message, { cause: error })
    const trouble = portTroubles[codeOf(error) ?? '']
    if (trouble !== undefined && error instanceof Error) {
      const port = 'port' in error ? error.port : 'its port'
      const isStorage = options.storage?.some((one) => one.port === port)
      const others = isStorage ? 'another by --storage ACCOUNT:PORT=URL' : 'others by --port and --http-port'
      throw new Error(`port ${port} ${trouble}, or choose ${others}`, { cause: error })
    }
    throw error
  }
}

function writeAuthority({ ca }: EventGridEmulator, wanted: string | undefined) {
  try {
    const file = resolve(wanted ?? join(mkdtempSync(join(tmpdir(), 'eventgrid-emulator-')), 'ca.pem'))
    writeAuthorityFile(file, ca)
    const remove = () => rmSync(dirname(file), { recursive: true, force: true })
    return { file, remove: wanted === undefined ? remove : () => {} }
  } catch (error) {
    throw new UsageError(`--ca: ${messageOf(error)}; name another file`, { cause: error })
  }
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
    const perSecond = ((published - before.published) * 1000) / Math.max(at - before.at, 1)
    before = { at, published }
    terminal.update(figuresLine({ ...figures, perSecond, pending: emulator.pending }))
  }
  update()
  const timer = setInterval(update, liveLineMs)
  return () => clearInterval(timer)
}

interface GivenBeside {
  readonly ingress: readonly IngressRule[]
  readonly deliver: Readonly<Record<string, readonly string[]>>
  readonly storage: readonly StorageOptions[]
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

/** Gives each blob endpoint without a port the next fixed one, so that pasted connection strings keep working. */
function withStoragePorts(options: EventGridEmulatorOptions): EventGridEmulatorOptions {
  const { storage = [] } = options
  return { ...options, storage: storage.map((one, at) => ({ port: firstStoragePort + at, ...one })) }
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
  return watchState({ read, known: first.text, changed })
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
  // A webhook may still read the blob whose event it gets.
  const isWrite = ({ method }: { readonly method: string }) => method !== 'GET' && method !== 'HEAD'
  emulator.failNext({ route: 'blob', status: 503, times, matches: isWrite })
  await Promise.race([emulator.idle(), pause(maxDrainMs, undefined, { ref: false })])
  const { delivered, deadLettered, dropped } = emulator.figures()
  const undelivered = `${emulator.pending} undelivered and ${state === undefined ? 'lost' : 'kept in the state file'}`
  terminal.line(`ended: ${delivered} delivered, ${deadLettered} dead-lettered, ${dropped} dropped, ${undelivered}`)
}

/** Throws a UsageError for what is no number of events. */
function readPageEvents(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const count = /^[1-9]\d{0,3}$/.test(value) ? Number(value) : 0
  if (count >= 1 && count <= mostPageEvents) return count
  throw wrongOption(`--page-events takes a number from 1 to ${mostPageEvents}, not ${JSON.stringify(value)}`)
}

/** The URLs of `--deliver TOPIC=URL`, by topic. Throws a UsageError that shows what one looks like. */
function readDeliver(values: readonly string[]): Record<string, string[]> {
  const deliver: Record<string, string[]> = {}
  for (const value of values) {
    const [, topic = '', url = ''] = /^([A-Za-z0-9-]{3,50})=(.*)$/.exec(value) ?? []
    if (topic === '' || !isIngressUrl(url)) {
      throw wrongOption(`--deliver takes a topic and a URL, like ${deliverExample}, not ${JSON.stringify(value)}`)
    }
    deliver[topic] = [...(deliver[topic] ?? []), url]
  }
  return deliver
}

/** The accounts of `--storage ACCOUNT[:PORT]=URL`. Throws a UsageError that shows what one looks like. */
function readStorage(values: readonly string[]): StorageOptions[] {
  const known = new Set<string>()
  return values.map((value) => {
    const [, account = '', port, azurite = ''] = /^([a-z0-9]{3,24})(?::(\d{1,5}))?=(http:\/\/.*)$/.exec(value) ?? []
    if (account === '' || !URL.canParse(azurite) || Number(port ?? 0) > 65_535) {
      throw wrongOption(
        `--storage takes an account and the http URL of Azurite, like ${storageExample}, not ${JSON.stringify(value)}`,
      )
    }
    if (known.has(account)) throw wrongOption(`--storage names ${account} twice`)
    known.add(account)
    return { account, azurite, ...(port !== undefined && { port: Number(port) }) }
  })
}

/** The rules of `--ingress FROM=TO`, two URLs each. Throws a UsageError that shows what one looks like. */
function readIngress(values: readonly string[]): IngressRule[] {
  return values.map((value) => {
    const [, from = '', to = ''] = /^([^=]*)=(.*)$/.exec(value) ?? []
    if (isIngressUrl(from) && isIngressUrl(to)) return { from, to }
    throw wrongOption(`--ingress takes two URLs, like ${ingressExample}, not ${JSON.stringify(value)}`)
  })
}
