import { type MetricsServer, type Observed, openMetricsServer } from '../binding/metrics-server.ts'
import { listenFailure } from './listen-failure.ts'
import { helpLines, portRange, readNumber } from './parse-options.ts'
import { UsageError } from './usage-error.ts'

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

/** The options of every command that serves metrics, for `parseOptions`. */
export const metricsOptions = { 'metrics-port': { type: 'string' }, 'metrics-address': { type: 'string' } } as const

export const metricsHelp = (width: number): string =>
  helpLines(width, {
    '--metrics-port N': 'serve /healthz, /readyz and /metrics over http (off by default; 0 takes a free port)',
    '--metrics-address ADDR': 'where to serve them (default 127.0.0.1)',
  })

/** Reads {@link metricsOptions}; `undefined` where no port is given. Throws a UsageError. */
export function readMetricsOptions(
  values: {
    readonly [Name in keyof typeof metricsOptions]?: string | undefined
  },
): MetricsAddress | undefined {
  const { 'metrics-port': port, 'metrics-address': host = '127.0.0.1' } = values
  if (port !== undefined) return { host, port: readNumber('metrics-port', port, portRange) }
  if (values['metrics-address'] === undefined) return undefined
  throw new UsageError('--metrics-address needs --metrics-port', { showHelp: true })
}

/** Serves health and metrics. Throws an Error that says what to do where that is not possible. */
export async function serveMetrics(
  observed: Observed,
  at: MetricsAddress,
  signal?: AbortSignal,
): Promise<MetricsServer> {
  try {
    return await openMetricsServer(observed, { ...at, ...(signal && { signal }) })
  } catch (error) {
    if (signal?.aborted) throw error
    throw listenFailure(error, 'metrics', at)
  }
}
