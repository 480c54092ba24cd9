/** The command `run`: its options, components and application put together, with a warning of an open address. */
import { BindingError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { Secret } from '../../../core/secret.ts'
import { packageVersion } from '../../../core/versions.ts'
import {
  type OptionTexts,
  optionLines,
  parseOptions,
  readChoice,
  readNumber,
  readPort,
  text,
  UsageError,
  wrongOption,
} from '../../../support/command-line/options.ts'
import { awaitEnd } from '../../../support/command-line/run-command.ts'
import { hanging } from '../../../support/command-line/terminal.ts'
import { isLoopback } from '../../../support/net/hosts.ts'
import { createSidecar } from '../../host/sidecar.ts'
import { withFaultsInWords } from '../../shared/component-excerpt.ts'
import type { MetricsServer } from '../../shared/health-and-metrics-server.ts'
import { createLoggers, logOptions, readLogOptions } from '../log-writer.ts'
import {
  type ComponentSources,
  componentOptions,
  loadSources,
  readComponentOptions,
  readSources,
} from '../options/component-options.ts'
import { emulatorEndpoints, emulatorOptions, readEmulatorOptions, withEmulatorUrl } from '../options/emulator-option.ts'
import { listening, metricsOptions, readMetricsOptions, serveMetrics } from '../options/server-options.ts'

/** The defaults. Ports and addresses are Dapr's. */
const runDefaults = {
  httpPort: 3500,
  httpAddress: '127.0.0.1',
  appProtocol: 'http',
  appAddress: '127.0.0.1',
  appMaxConcurrency: 256,
  appHealthProbeInterval: 5,
  appHealthThreshold: 3,
} as const

const known = {
  components: {
    ...componentOptions.components,
    about: `${componentOptions.components.about}. A change takes effect at once. While a file is broken, its previous version stays active`,
  },
  'app-port': text(
    'N',
    "port of the application: events are posted to /{component}, or to the component's route " +
      '(without: components only publish, and Event Grid keeps their events)',
  ),
  'app-address': text('HOST', `host of the application (default ${runDefaults.appAddress})`),
  'app-protocol': text(
    'PROTOCOL',
    "http or grpc: how the application is called; over gRPC it serves Dapr's AppCallback " +
      `(default ${runDefaults.appProtocol})`,
  ),
  'app-id': componentOptions['app-id'],
  'app-max-concurrency': text('N', `requests to the application at once (default ${runDefaults.appMaxConcurrency})`),
  'app-health-check-path': text(
    'PATH',
    "check the application's health by GET; while it is unhealthy, it gets no events",
  ),
  'app-health-probe-interval': text(
    'S',
    `seconds between two health checks (default ${runDefaults.appHealthProbeInterval})`,
  ),
  'app-health-threshold': text(
    'N',
    `failed checks in a row that make it unhealthy (default ${runDefaults.appHealthThreshold})`,
  ),
  'http-port': text('N', `port of Dapr's HTTP API (default ${runDefaults.httpPort}; 0 takes a free one)`),
  'http-address': text('HOST', `where the API listens (default ${runDefaults.httpAddress}: this machine only)`),
  'grpc-port': text('N', "port of Dapr's gRPC API (off by default; Dapr's own is 50001; 0 takes a free one)"),
  secrets: { ...componentOptions.secrets, about: `${componentOptions.secrets.about}. A change takes effect at once` },
  ...emulatorOptions,
  ...metricsOptions,
  ...logOptions,
}

export const help = `Usage: eventgrid-binding run [--components DIR|FILE] [--app-port N] [options]

Runs components beside an application, and serves Dapr's HTTP
API for bindings: for machines without Dapr.

Options:
${optionLines(29, known)}

Environment: APP_API_TOKEN is sent to the application as dapr-api-token. With
DAPR_API_TOKEN set, callers of the API must send it as dapr-api-token.

A first SIGINT or SIGTERM accepts no more events and waits for those that the
application handles; a second one ends at once.
`

/** Runs until a signal, or a request to shut down. Throws a UsageError for wrong options or components. */
export async function run(args: readonly string[]): Promise<number> {
  const options = readRunOptions(args)
  const loggerOf = createLoggers(options.log)
  const logger = loggerOf()
  const ending = awaitEnd()
  // The folder may be on a network mount that hangs.
  const sources = await Promise.race([readSources(options), ending.asked])
  if (typeof sources === 'string') return 0
  const excerptWidth = (process.stderr.columns || 120) - hanging
  const load = (from: ComponentSources) => withFaultsInWords(loadSources(from, options), excerptWidth)
  const loaded = load(sources)
  const notes = [...loaded.mistakes, ...loaded.notes]
  // At the start everything must be right: there is nothing yet to fall back on.
  if (loaded.faults.length > 0) throw new UsageError([...loaded.faults, ...notes].join('\n'))
  const { emulator } = options
  const endpoints = emulator && (await emulatorEndpoints(emulator))
  const sidecar = await createSidecar({
    ...options,
    endpoints,
    appToken: tokenOf('APP_API_TOKEN'),
    apiToken: tokenOf('DAPR_API_TOKEN'),
    version: packageVersion,
    loggerOf,
    components: { read: () => readSources(options), known: sources, load },
    onShutdown: () => ending.ask('shutdown'),
  })
  let metricsServer: MetricsServer | undefined
  try {
    metricsServer = await serveMetrics(sidecar.observed, options.metrics, logger)
    const { http, grpc = http } = options
    const url = await listening('http', http, sidecar.listen)
    const grpcPort = await listening('grpc', grpc, sidecar.listenGrpc)
    if (grpcPort !== undefined) logger.info("Dapr's gRPC API for bindings is served", { port: grpcPort })
    warnOfStrangers(http.host, url, logger)
    for (const note of notes) logger.warn(note)
    if (loaded.components.size === 0) logger.warn(`${options.components.join(', ')} holds no component of ours yet`)
    await sidecar.start(loaded)
    logger.info("ready: Dapr's HTTP API for bindings is served", { url: `${url}/v1.0` })
    const why = await ending.asked
    logger.info(`${why}: no more events are taken; waiting for those that the application handles`)
    await sidecar.close()
    logger.info('ended')
    return 0
  } catch (error) {
    if (error instanceof BindingError && error.code === 'METADATA_INVALID') {
      throw new UsageError(error.message, { cause: error })
    }
    throw error
  } finally {
    await sidecar.close()
    await metricsServer?.close()
  }
}

function warnOfStrangers(host: string, url: string, logger: Logger): void {
  if (isLoopback(host) || process.env.DAPR_API_TOKEN) return
  const danger = `every client that reaches ${url} may publish and shut this process down`
  logger.warn(`--http-address ${host} without DAPR_API_TOKEN: ${danger}`)
}

/** The token of a variable. @throws UsageError where no header can hold the token: each request would fail, and never say why */
function tokenOf(variable: 'APP_API_TOKEN' | 'DAPR_API_TOKEN'): Secret | undefined {
  const token = process.env[variable]
  if (!token) return undefined
  if (/^[\x20-\x7e]+$/.test(token) && token === token.trim()) return new Secret(token)
  throw new UsageError(`${variable} must be printable ASCII, without a line break and without a space at its ends`)
}

/** Options that have no effect without another one. Alone they are refused. */
const dependent = [
  ['app-address', 'app-port'],
  ['app-protocol', 'app-port'],
  ['app-max-concurrency', 'app-port'],
  ['app-health-check-path', 'app-port'],
  ['app-health-probe-interval', 'app-health-check-path'],
  ['app-health-threshold', 'app-health-check-path'],
] as const

export function readRunOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  for (const [option, needed] of dependent) {
    if (values[option] !== undefined && values[needed] === undefined) throw wrongOption(`--${option} needs --${needed}`)
  }
  const grpcPort = readPort('grpc-port', values['grpc-port'])
  const host = values['http-address'] ?? runDefaults.httpAddress
  return {
    ...readComponentOptions(values),
    app: appOf(values),
    health: healthCheck(values),
    http: { host, port: readPort('http-port', values['http-port']) ?? runDefaults.httpPort },
    grpc: grpcPort === undefined ? undefined : { host, port: grpcPort },
    emulator: readEmulatorOptions(values),
    metrics: readMetricsOptions(values),
    log: readLogOptions(values),
  }
}

function appOf(values: OptionTexts<Omit<typeof known, 'components'>>) {
  const { 'app-port': port, 'app-protocol': protocol = runDefaults.appProtocol } = values
  const { 'app-max-concurrency': maxConcurrency = String(runDefaults.appMaxConcurrency) } = values
  if (port === undefined) return undefined
  return {
    address: values['app-address'] ?? runDefaults.appAddress,
    port: readNumber('app-port', port, [1, 65_535]),
    protocol: readChoice(['http', 'grpc'], 'app-protocol', protocol),
    maxConcurrency: readNumber('app-max-concurrency', maxConcurrency, [1, 10_000]),
  }
}

function healthCheck(values: OptionTexts<Omit<typeof known, 'components'>>) {
  const path = values['app-health-check-path']
  if (path === undefined) return undefined
  const seconds = values['app-health-probe-interval'] ?? String(runDefaults.appHealthProbeInterval)
  const threshold = values['app-health-threshold'] ?? String(runDefaults.appHealthThreshold)
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(seconds) || Number(seconds) < 0.05) {
    throw wrongOption(`--app-health-probe-interval takes seconds from 0.05, not ${JSON.stringify(seconds)}`)
  }
  return {
    path,
    intervalMs: Number(seconds) * 1_000,
    threshold: readNumber('app-health-threshold', threshold, [1, 1_000]),
  }
}
