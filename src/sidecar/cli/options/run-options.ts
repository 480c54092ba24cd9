/** The options of `run`, with their defaults, their ranges, and which of them need another one. */
import {
  type OptionTexts,
  parseOptions,
  readChoice,
  readNumber,
  readPort,
  text,
  wrongOption,
} from '../../../support/command-line/options.ts'
import { logOptions, readLogOptions } from '../log-writer.ts'
import { componentOptions, readComponentOptions } from './component-options.ts'
import { emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { metricsOptions, readMetricsOptions } from './server-options.ts'

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

export const runOptions = {
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
  const values = parseOptions(withEmulatorUrl(args), runOptions)
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

function appOf(values: OptionTexts<Omit<typeof runOptions, 'components'>>) {
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

function healthCheck(values: OptionTexts<Omit<typeof runOptions, 'components'>>) {
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
