/** The command `run` puts its options, components and application together, and warns of an open address. */
import { BindingError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { Secret } from '../../../core/secret.ts'
import { packageVersion } from '../../../core/versions.ts'
import { optionLines, UsageError } from '../../../support/command-line/options.ts'
import { awaitEnd } from '../../../support/command-line/run-command.ts'
import { hanging } from '../../../support/command-line/terminal.ts'
import { isLoopback } from '../../../support/net/hosts.ts'
import { createSidecar } from '../../host/sidecar.ts'
import type { MetricsServer } from '../../shared/health-and-metrics-server.ts'
import { createLoggers } from '../log-writer.ts'
import { type ComponentSources, loadSources, readSources } from '../options/component-options.ts'
import { emulatorEndpoints } from '../options/emulator-option.ts'
import { readRunOptions, runOptions } from '../options/run-options.ts'
import { listening, serveMetrics } from '../options/server-options.ts'

export const help = `Usage: eventgrid-binding run [--components DIR|FILE] [--app-port N] [options]

Runs components beside an application, and serves Dapr's HTTP
API for bindings: for machines without Dapr.

Options:
${optionLines(29, runOptions)}

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
  const load = (from: ComponentSources) => loadSources(from, options, { excerptWidth })
  const loaded = load(sources)
  const notes = [...loaded.mistakes, ...loaded.notes]
  // At the start everything must be right: there is nothing yet to fall back on.
  if (loaded.faults.length > 0) throw new UsageError([...loaded.faults, ...notes].join('\n'))
  const { emulator } = options
  const endpoints = emulator && (await emulatorEndpoints(emulator))
  const { env } = process
  const sidecar = await createSidecar({
    ...options,
    endpoints,
    appToken: secretOf(env.APP_API_TOKEN),
    apiToken: secretOf(env.DAPR_API_TOKEN),
    version: packageVersion,
    loggerOf,
    components: { read: () => readSources(options), known: sources, load },
    onShutdown: () => ending.ask('shutdown'),
  })
  let metricsServer: MetricsServer | undefined
  try {
    metricsServer = options.metrics && (await serveMetrics(sidecar.observed, options.metrics))
    if (metricsServer) logger.info('health and metrics are served', metricsServer.address)
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

const secretOf = (text: string | undefined) => (text ? new Secret(text) : undefined)
