/** What each option of `emulate` means, on the command line and as a variable of the environment. */
import { resolve } from 'node:path'
import {
  flag,
  parseOptions,
  readChoice,
  readPort,
  text,
  texts,
  wrongOption,
} from '../../../../src/support/command-line/options.ts'
import { isIngressUrl } from '../delivery/send/ingress.ts'
import { type EventGridEmulatorOptions, type IngressRule, ManualClock, type StorageOptions } from '../index.ts'
import { environmentLanguages } from '../test-interface/environment.ts'
import { isThere } from './parent-end.ts'

/** The default ports. They are fixed, so that pasted lines keep working. */
export const defaultPorts = { port: 4430, httpPort: 4431, blobPort: 4432 } as const

const storageExample = 'devstoreaccount1=http://127.0.0.1:10000'
export const deliverExample = 'orders=http://127.0.0.1:3000/hook'
const ingressExample = 'https://orders.example.com/=http://127.0.0.1:9000/'

export const emulateOptions = {
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
  host: text('ADDRESS', 'address to listen on (default 127.0.0.1); in a container 0.0.0.0'),
  ca: texts(
    'FILE',
    "write the certificate authority here: PEM, or PKCS#12 for Java where the name ends in .p12; twice for both (default: files in the system's " +
      'temporary folder). A file with other content is left alone',
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
    `ACCOUNT=URL: blobs of this Azurite raise events where clients use --blob-port; repeatable: --storage ${storageExample}`,
  ),
  'blob-port': text(
    'N',
    `http and https: blobs of all accounts of --storage (default ${defaultPorts.blobPort}; 0 takes a free one)`,
  ),
  env: text(
    'LANGUAGE',
    `print the environment for ${environmentLanguages.join(', ')}, and what it needs besides (default: the variables of node)`,
  ),
  'ready-file': text(
    'FILE',
    'write addresses, keys and the environment for each language here (JSON), once it is ready; removed at the end',
  ),
  'until-stdin-ends': flag('exit when stdin closes, which means that the parent process has ended'),
  parent: text('PID', 'exit when this process has ended'),
  'manual-clock': flag('the clock stands until POST /emulator/clock advances it'),
  quiet: flag('no line for each handshake, delivery and refused publish'),
}

/** What stands beside the options of the file. */
export interface GivenBeside {
  readonly ingress: readonly IngressRule[]
  readonly deliver: Readonly<Record<string, readonly string[]>>
  readonly storage: readonly StorageOptions[]
}

/** What ends it beside a signal. */
interface EndsWith {
  /** The id of a process. */
  readonly parent: number | undefined
  readonly standardInput: boolean
}

/** What the command line says, and beside it the environment. */
export function readEmulateOptions(args: readonly string[], environment: NodeJS.ProcessEnv = process.env) {
  const onLine = parseOptions(args, emulateOptions)
  const fromEnv = parseOptions(environmentArgs(environment, onLine), emulateOptions)
  const { config, ca = [], host, quiet, state, ...values } = withoutPem({ ...fromEnv, ...onLine })
  const manual = values['manual-clock'] === true
  const port = readPort('port', values.port)
  const httpPort = readPort('http-port', values['http-port'])
  const blobPort = readPort('blob-port', values['blob-port'])
  const given: EventGridEmulatorOptions = {
    ...(manual && { clock: new ManualClock() }),
    ...(state !== undefined && { state: resolve(state) }),
    ...(port !== undefined && { port }),
    ...(httpPort !== undefined && { httpPort }),
    ...(blobPort !== undefined && { blobPort }),
    ...(host !== undefined && { host }),
  }
  const beside: GivenBeside = {
    ingress: readIngress(values.ingress ?? []),
    deliver: readDeliver(values.deliver ?? []),
    storage: readStorage(values.storage ?? []),
  }
  const ends: EndsWith = { parent: readParent(values.parent), standardInput: values['until-stdin-ends'] === true }
  const env = values.env === undefined ? undefined : readChoice(environmentLanguages, 'env', values.env)
  return { config, ca, quiet, env, readyFile: values['ready-file'], given, ends, ...beside }
}

/** As in `EVENTGRID_EMULATOR_HTTP_PORT`. */
const variableOf = (option: string) => `EVENTGRID_EMULATOR_${option.toUpperCase().replaceAll('-', '_')}`

/** What Kubernetes puts into the environment for a service named `eventgrid-emulator`. */
const isServiceLink = (value: string) => /^(tcp|udp|sctp):\/\//.test(value)

/**
 * The options that the environment gives and the command line does not, as arguments. Of one that may be repeated: several, with spaces
 * between.
 */
function environmentArgs(env: NodeJS.ProcessEnv, given: object): string[] {
  return Object.entries(emulateOptions).flatMap(([name, option]) => {
    const variable = variableOf(name)
    const value = env[variable]?.trim() ?? ''
    if (value === '' || isServiceLink(value) || Object.hasOwn(given, name)) return []
    if (option.type === 'boolean') return readChoice(['true', 'false'], variable, value) === 'true' ? [`--${name}`] : []
    const values = 'multiple' in option ? value.split(/\s+/) : [value]
    return values.map((one) => `--${name}=${one}`)
  })
}

/** Throws a UsageError for the text of a PEM file in the place of its path: it may be a key, so it is not printed. */
function withoutPem<Values extends object>(values: Values): Values {
  const [found] = Object.entries(values).filter(([, value]) =>
    [value].flat().some((one) => String(one).includes('-----BEGIN')),
  )
  if (found === undefined) return values
  throw wrongOption(`--${found[0]} takes no PEM text: where a file is meant, give its path`)
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

/** The accounts of `--storage ACCOUNT=URL`. Throws a UsageError that shows what one looks like. */
function readStorage(values: readonly string[]): StorageOptions[] {
  const known = new Set<string>()
  return values.map((value) => {
    const [, account = '', port, azurite = ''] = /^([a-z0-9]{3,24})(:\d+)?=(https?:\/\/.*)$/.exec(value) ?? []
    if (port !== undefined) {
      throw wrongOption(
        `--storage takes no port any more: all accounts are at --blob-port, not ${JSON.stringify(value)}`,
      )
    }
    if (account === '' || !URL.canParse(azurite)) {
      throw wrongOption(
        `--storage takes an account and the URL of Azurite, like ${storageExample}, not ${JSON.stringify(value)}`,
      )
    }
    if (known.has(account)) throw wrongOption(`--storage names ${account} twice`)
    known.add(account)
    return { account, azurite }
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

/** The id of a process that is there. */
function readParent(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const pid = /^[1-9]\d{0,9}$/.test(value) ? Number(value) : 0
  if (pid === 0) throw wrongOption(`--parent takes the id of a process, not ${JSON.stringify(value)}`)
  if (!isThere(pid)) throw wrongOption(`--parent: there is no process ${pid}`)
  return pid
}
