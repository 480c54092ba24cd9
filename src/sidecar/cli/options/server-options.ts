/** Where a command's servers listen: `--metrics-port` and `--metrics-address`, and what is said where a port or address can't be had. */

import type { Logger } from '../../../core/logger.ts'
import { type OptionTexts, readPort, text, wrongOption } from '../../../support/command-line/options.ts'
import { outputOf } from '../../../support/command-line/output.ts'
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import {
  type MetricsServer,
  type MetricsServerOptions,
  type Observed,
  openMetricsServer,
} from '../../shared/health-and-metrics-server.ts'
import type { Metrics } from '../../shared/metrics.ts'

export const metricsOptions = {
  'metrics-port': text(
    'N',
    'serve /healthz, /readyz, /config and /metrics over http (off by default; 0 takes a free port)',
  ),
  'metrics-address': text('ADDR', 'where to serve them (default 127.0.0.1)'),
}

export function readMetricsOptions(values: OptionTexts<typeof metricsOptions>): MetricsServerOptions | undefined {
  const port = readPort('metrics-port', values['metrics-port'])
  const host = values['metrics-address']
  if (port !== undefined) return { host: host ?? '127.0.0.1', port }
  if (host === undefined) return undefined
  throw wrongOption('--metrics-address needs --metrics-port')
}

/**
 * Serves health and metrics where the options say so, and logs the address. Rejects with an Error that says what to do where that is not
 * possible.
 */
export async function serveMetrics(
  observed: Observed & { readonly metrics: Metrics },
  at: MetricsServerOptions | undefined,
  logger: Logger,
): Promise<MetricsServer | undefined> {
  if (!at) return undefined
  observed.metrics.watchLog(() => outputOf(2).dropped)
  const server = await listening('metrics', at, () => openMetricsServer(observed, at))
  logger.info('health and metrics are served', server.address)
  return server
}

/**
 * Has a server listen where the options `--<server>-address` and `--<server>-port` say. Rejects with an Error that says what to do
 * where it can't.
 */
export async function listening<T>(
  server: 'http' | 'grpc' | 'metrics',
  { host, port }: { readonly host: string; readonly port: number },
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    if (codeOf(cause) === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use; free it, or choose another by --${server}-port`, { cause })
    }
    const address = server === 'grpc' ? 'http' : server
    throw new Error(`--${address}-address ${host}: ${messageOf(cause)}`, { cause })
  }
}
