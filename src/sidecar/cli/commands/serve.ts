/** The command `serve` offers the component to daprd, from its start to its end. */
import type { Logger } from '../../../core/logger.ts'
import { optionLines, parseOptions, text, wrongOption } from '../../../support/command-line/options.ts'
import { awaitEnd } from '../../../support/command-line/run-command.ts'
import { loadGrpc } from '../../shared/load-grpc.ts'
import { createLoggers, logOptions, readLogOptions } from '../log-writer.ts'
import { emulatorEndpoints, emulatorOptions, readEmulatorOptions, withEmulatorUrl } from '../options/emulator-option.ts'
import { metricsOptions, readMetricsOptions, serveMetrics } from '../options/server-options.ts'

const defaultFolder = '/tmp/dapr-components-sockets'

const known = {
  'sockets-folder': text('DIR', `where daprd looks (default: DAPR_COMPONENTS_SOCKETS_FOLDER, else ${defaultFolder})`),
  'socket-mode': text('MODE', 'permissions of the sockets, in octal (default 660: this user and group)'),
  ...emulatorOptions,
  ...metricsOptions,
  ...logOptions,
}

export const help = `Usage: eventgrid-binding serve [options]

Serves the binding to daprd as a pluggable component, on Unix domain sockets,
until it is interrupted. Start it before daprd, which looks for sockets only
when it starts, and give each daprd a folder and a "serve" of its own.

Options:
${optionLines(24, known)}

A first SIGINT or SIGTERM takes no more events, waits for those under way and
publishes what is queued; a second one ends at once.
`

type ServeOptions = ReturnType<typeof readOptions>

/** daprd and this command meet in Unix domain sockets, whose files and permissions other systems do not have. */
const supported: readonly string[] = ['linux', 'darwin']

/**
 * Runs until a signal. Throws a UsageError for wrong options.
 *
 * @param platform @default the platform of the process
 */
export async function run(
  args: readonly string[],
  _terminal?: unknown,
  platform: string = process.platform,
): Promise<number> {
  if (!supported.includes(platform)) {
    const otherwise = 'use "eventgrid-binding run" here, which needs no daprd'
    throw new Error(`serve needs Linux or macOS, and this is ${platform}; ${otherwise}`)
  }
  const options = readOptions(args)
  const loggerOf = createLoggers(options.log)
  const logger = loggerOf()

  const { asked, stopping } = awaitEnd()
  const serving = await start(options, loggerOf, stopping).catch((error: unknown) => {
    if (stopping.aborted) return undefined
    throw error
  })
  if (serving) {
    // A second signal ends the process at once.
    process.once('exit', serving.pluggable.removeSockets)
    logger.info('ready', { sockets: serving.pluggable.sockets.join(' ') })
    logger.info(`${await asked}: no more events are taken; waiting for what is under way`)
    await serving.close()
  } else logger.info(`${await asked}: the start is cancelled`)
  logger.info('ended')
  return 0
}

/** Serves the sockets and, where asked for, the metrics. */
async function start(options: ServeOptions, loggerOf: (component?: string) => Logger, signal: AbortSignal) {
  const { folder, socketMode, emulator, metrics } = options
  const { createPluggable } = await loadGrpc('serve', () => import('../../pluggable/server.ts'))
  const endpoints = emulator && (await emulatorEndpoints(emulator))
  signal.throwIfAborted()
  const pluggable = await createPluggable({ folder, socketMode, loggerOf, ...(endpoints && { endpoints }) })
  try {
    const metricsServer = await serveMetrics(pluggable, metrics && { ...metrics, signal }, loggerOf())
    return {
      pluggable,
      async close() {
        await pluggable.close()
        await metricsServer?.close()
      },
    }
  } catch (error) {
    await pluggable.close()
    throw error
  }
}

function readOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  return {
    folder: values['sockets-folder'] ?? (process.env.DAPR_COMPONENTS_SOCKETS_FOLDER || defaultFolder),
    socketMode: modeOf(values['socket-mode'] ?? '660'),
    emulator: readEmulatorOptions(values),
    metrics: readMetricsOptions(values),
    log: readLogOptions(values),
  }
}

function modeOf(text: string): number {
  if (/^0?[0-7]{3}$/.test(text)) return Number.parseInt(text, 8)
  throw wrongOption(`--socket-mode takes three octal digits, such as 660, not ${JSON.stringify(text)}`)
}
