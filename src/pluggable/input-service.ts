import type { ServerDuplexStream } from '@grpc/grpc-js'
import { BindingError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { AckMessage, Empty, EventMessage, InitRequest } from './contract.ts'
import type { Instance } from './instance.ts'
import type { Instances } from './instances.ts'
import { failureOf } from './status.ts'
import { type CallEnd, instanceName, unary } from './unary.ts'

export interface ServiceOptions {
  readonly instances: Instances
  readonly logger: Logger
}

/** The gRPC service InputBinding: events for the application. */
export function createInputService({ instances, logger }: ServiceOptions) {
  return {
    Init: unary<InitRequest, Empty>(
      logger,
      async ({ request, metadata }) => {
        await instances.init(instanceName(metadata), 'input', request.metadata?.properties ?? {})
        return {}
      },
      ({ metadata }, end) => noteInit(instances.find(instanceName(metadata)), 'input', end),
    ),
    Read(call: ServerDuplexStream<AckMessage, EventMessage>): void {
      let instance: Instance
      try {
        instance = instances.obtain(instanceName(call.metadata))
      } catch (error) {
        call.emit('error', failureOf(error))
        return
      }
      const reader = instance.read({ write: (message) => call.write(message), end: () => call.end() })
      call.on('data', reader.acknowledge)
      call.on('drain', reader.drained)
      // A host that has ended its half sends no more acknowledgements.
      call.once('end', () => {
        reader.end()
        call.end()
      })
      for (const over of ['cancelled', 'error', 'close']) call.on(over, reader.end)
    },
    Ping: unary<Empty, Empty>(logger, async () => ({})),
  }
}

export function noteInit(instance: Instance | undefined, side: 'input' | 'output', { code, error }: CallEnd): void {
  instance?.counters.init(side, code)
  if (error instanceof BindingError) instance?.logger.error(`Init of the ${side} side failed: ${error.message}`)
  else if (error === undefined) instance?.logger.debug(`Init of the ${side} side is done`)
}
