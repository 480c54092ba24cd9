// Options of `run`: defaults (port 3500, concurrency 256, application health: every 5 s, 3 failures), ranges, which
// need another option.
import type { AppHealthCheck } from '../../host/app/app-watch.ts'
import type { SidecarOptions } from '../../host/sidecar.ts'
import type { LogOptions } from '../output/log-writer.ts'
import { wrongOption } from '../usage-error.ts'
import { type EmulatorAddress, emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { logOptions, readLogOptions } from './log-options.ts'
import { metricsOptions, readMetricsOptions } from './metrics-options.ts'
import { type OptionTexts, parseOptions, readChoice, readNumber, readPort, text } from './parse-options.ts'

/** The defaults. Ports and addresses are Dapr's. */
export const runDefaults = {
  httpPort: 3500,
  httpAddress: '127.0.0.1',
  appProtocol: 'http',
  appAddress: '127.0.0.1',
  appMaxConcurrency: 256,
  appHealthProbeInterval: 5,
  appHealthThreshold: 3,
} as const

export interface RunOptions extends Pick<SidecarOptions<unknown>, 'appId' | 'app' | 'health' | 'http' | 'grpc'> {
  readonly components: string
  readonly secrets: string | undefined
  readonly emulator: EmulatorAddress | undefined
  readonly metrics: ReturnType<typeof readMetricsOptions>
  readonly log: LogOptions
}

const known = {
  components: text,
  'app-id': text,
  'app-port': text,
  'app-address': text,
  'app-protocol': text,
  'app-max-concurrency': text,
  'app-health-check-path': text,
  'app-health-probe-interval': text,
  'app-health-threshold': text,
  'http-port': text,
  'http-address': text,
  'grpc-port': text,
  secrets: text,
  ...emulatorOptions,
  ...metricsOptions,
  ...logOptions,
} as const

/** Options that have no effect without another one. Alone they are refused. */
const dependent = [
  ['app-address', 'app-port'],
  ['app-protocol', 'app-port'],
  ['app-max-concurrency', 'app-port'],
  ['app-health-check-path', 'app-port'],
  ['app-health-probe-interval', 'app-health-check-path'],
  ['app-health-threshold', 'app-health-check-path'],
] as const

/** Reads the options of `run`. Throws a UsageError. */
export function readRunOptions(args: readonly string[]): RunOptions {
  const values = parseOptions(withEmulatorUrl(args), known)
  if (!values.components) throw wrongOption('--components is missing: the folder of the component YAML files')
  for (const [option, needed] of dependent) {
    if (values[option] !== undefined && values[needed] === undefined) throw wrongOption(`--${option} needs --${needed}`)
  }
  const grpcPort = readPort('grpc-port', values['grpc-port'])
  const host = values['http-address'] ?? runDefaults.httpAddress
  return {
    components: values.components,
    appId: values['app-id'] ?? '',
    app: appOf(values),
    health: healthCheck(values),
    http: { host, port: readPort('http-port', values['http-port']) ?? runDefaults.httpPort },
    grpc: grpcPort === undefined ? undefined : { host, port: grpcPort },
    secrets: values.secrets,
    emulator: readEmulatorOptions(values),
    metrics: readMetricsOptions(values),
    log: readLogOptions(values),
  }
}

function appOf(values: OptionTexts<typeof known>): RunOptions['app'] {
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

function healthCheck(values: OptionTexts<typeof known>): AppHealthCheck | undefined {
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
