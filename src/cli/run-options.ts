import type { AppHealthCheck } from '../host/app-watch.ts'
import type { SidecarOptions } from '../host/sidecar.ts'
import { type EmulatorAddress, emulatorOptions, readEmulatorOptions, withEmulatorUrl } from './emulator-option.ts'
import { type LogOptions, logOptions, readLogOptions } from './log-options.ts'
import { type MetricsAddress, metricsOptions, readMetricsOptions } from './metrics-options.ts'
import { parseOptions, portRange, readChoice, readNumber } from './parse-options.ts'
import { UsageError } from './usage-error.ts'

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
  readonly metrics: MetricsAddress | undefined
  readonly log: LogOptions
}

const text = { type: 'string' } as const
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

type Values = { readonly [Name in keyof typeof known]?: string }

/** Reads the options of `run`. Throws a UsageError. */
export function readRunOptions(args: readonly string[]): RunOptions {
  const values = parseOptions(withEmulatorUrl(args), known)
  if (!values.components) throw wrong('--components is missing: the folder of the component YAML files')
  for (const [option, needed] of dependent) {
    if (values[option] !== undefined && values[needed] === undefined) throw wrong(`--${option} needs --${needed}`)
  }
  const { appAddress, appMaxConcurrency, httpAddress, httpPort } = runDefaults
  const port = integer(values, 'app-port', { from: 1, to: 65_535 })
  const grpcPort = integer(values, 'grpc-port', portRange)
  return {
    components: values.components,
    appId: values['app-id'] ?? '',
    app:
      port === undefined
        ? undefined
        : {
            address: values['app-address'] ?? appAddress,
            port,
            protocol: readChoice(['http', 'grpc'], 'app-protocol', values['app-protocol'] ?? runDefaults.appProtocol),
            maxConcurrency: integer(values, 'app-max-concurrency', { from: 1, to: 10_000 }) ?? appMaxConcurrency,
          },
    health: healthCheck(values),
    http: {
      host: values['http-address'] ?? httpAddress,
      port: integer(values, 'http-port', portRange) ?? httpPort,
    },
    grpc: grpcPort === undefined ? undefined : { host: values['http-address'] ?? httpAddress, port: grpcPort },
    secrets: values.secrets,
    emulator: readEmulatorOptions(values),
    metrics: readMetricsOptions(values),
    log: readLogOptions(values),
  }
}

function healthCheck(values: Values): AppHealthCheck | undefined {
  const path = values['app-health-check-path']
  if (path === undefined) return undefined
  const { appHealthProbeInterval, appHealthThreshold } = runDefaults
  const seconds = values['app-health-probe-interval'] ?? String(appHealthProbeInterval)
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(seconds) || Number(seconds) < 0.05) {
    throw wrong(`--app-health-probe-interval takes seconds from 0.05, not ${JSON.stringify(seconds)}`)
  }
  const threshold = integer(values, 'app-health-threshold', { from: 1, to: 1_000 }) ?? appHealthThreshold
  return { path, intervalMs: Number(seconds) * 1_000, threshold }
}

function integer(values: Values, name: keyof Values, range: { readonly from: number; readonly to: number }) {
  const value = values[name]
  return value === undefined ? undefined : readNumber(name, value, range)
}

const wrong = (message: string) => new UsageError(message, { showHelp: true })
