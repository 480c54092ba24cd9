/** The gRPC server for daprd: its sockets, its readiness and its end. */
import { resolve } from 'node:path'
import { Server } from '@grpc/grpc-js'
import { ReflectionService } from '@grpc/reflection'
import { createPeers, serverOptions } from '../shared/grpc.ts'
import { createCodes, createMetrics, figuresOf } from '../shared/metrics.ts'
import { loadContract } from './grpc/contract.ts'
import { createInputService, createOutputService, statusByCode } from './grpc/services.ts'
import type { Instance } from './instance.ts'
import { createInstances, type InstancesOptions } from './instances.ts'
import { claimSockets } from './socket-files.ts'

export interface PluggableOptions extends Pick<InstancesOptions, 'loggerOf' | 'endpoints' | 'readWarningMs'> {
  readonly folder: string
  /** Permissions of the sockets. @default 0o660 */
  readonly socketMode?: number
  /** The log says so when the runtime has initialised nothing after this time. @default 60_000 */
  readonly initWarningMs?: number
}

/** File names of the sockets: the runtime reads the component types from these names. */
const socketNames = ['cloud.eventrouter.sock', 'azure.eventgrid.sock']

const maxMessageBytes = 64 * 1024 * 1024

/** What `Invoke` and `Init` are counted with. INTERNAL: an unexpected error. */
const invokeStatuses = new Set<string>(['OK', ...createCodes.map((code) => statusByCode[code]), 'INTERNAL'])
const initStatuses = new Set<string>(['OK', ...Object.values(statusByCode), 'INTERNAL'])

/** Time for the last calls to end after the drain. */
const lastAnswersMs = 1_000

export type Pluggable = Awaited<ReturnType<typeof createPluggable>>

/**
 * Serves both component types on Unix domain sockets, for any number of components.
 *
 * @throws SocketError when the sockets can't be served
 */
export async function createPluggable(options: PluggableOptions) {
  const { socketMode: mode = 0o660, initWarningMs = 60_000 } = options
  const { loggerOf, endpoints, readWarningMs } = options
  const logger = loggerOf()
  const metrics = createMetrics({ invoke: invokeStatuses, init: initStatuses })
  const instances = createInstances({ loggerOf, metrics, endpoints, readWarningMs })
  metrics.watch(() =>
    instances.all().map((instance) => {
      const { inFlight, waiting, count } = instance.readers
      return figuresOf(instance.name, instance.health(), { inFlight, waiting, readers: count })
    }),
  )
  metrics.watchInit(() => instances.wasInitialized)

  const contract = loadContract()
  const server = new Server({
    ...serverOptions,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
  })
  server.addService(contract.input, createInputService({ instances, logger }))
  server.addService(contract.output, createOutputService({ instances, logger }))
  new ReflectionService(contract.all).addToServer(server)

  const peers = createPeers(server, {
    onRefused: (error) => logger.warn('a connection could not be accepted', { reason: error.message }),
  })
  const files = await claimSockets({
    folder: resolve(options.folder),
    names: socketNames,
    mode,
    bind: async (path) => void (await peers.listen({ path })),
    onWarning: (warning) => logger.warn(warning),
  }).catch(async (error: unknown) => {
    await peers.close(0)
    await instances.close()
    throw error
  })
  if (files.replaced) {
    logger.warn(
      'replaced the sockets of a killed process. Restart a daprd that has run since then: it does not initialise its components again',
    )
  }
  const initWarning = setTimeout(() => {
    if (instances.wasInitialized) return
    logger.warn(
      'daprd has not initialised a component in this process: no event is received and none is published. daprd does so only when it ' +
        'starts. If it has started before this process, restart daprd (on Kubernetes the pod); if it has not started yet, start ' +
        'it; if it runs, its log says why it goes on without the component',
    )
  }, initWarningMs).unref()

  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    clearTimeout(initWarning)
    files.remove()
    await instances.close()
    // A Read has no end by itself.
    await peers.close(lastAnswersMs)
  }

  return {
    sockets: files.paths,
    get draining() {
      return closed !== undefined
    },
    /** No drain has begun, and the runtime has initialised a component. A runtime that started before this process never does so. */
    get ready() {
      const initialized = instances.all().filter((instance) => instance.initialized)
      const mayBeRouted = (instance: Instance) => instance.health().input?.ready !== false
      return closed === undefined && initialized.length > 0 && initialized.every(mayBeRouted)
    },
    health: () => Object.fromEntries(instances.all().map((instance) => [instance.name, instance.health()])),
    active: () => Object.fromEntries(instances.all().map((instance) => [instance.name, instance.active()])),
    metrics,
    /** Removes the sockets at once, for a process that can't await `close`. */
    removeSockets: files.remove,
    /** Drains: waits for running events, then publishes the queue. */
    close() {
      closed ??= close()
      return closed
    },
  }
}
