/** The gRPC services `InputBinding` and `OutputBinding`: what each method does. */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import { component } from '../../../binding/component.ts'
import type { Side } from '../../../core/component.ts'
import { BindingError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { refuseTooManyNames, whileAwaited } from '../../shared/invoke.ts'
import type { Instance } from '../instance.ts'
import type { Instances } from '../instances.ts'
import type { AckMessage, EventMessage, InitRequest, InvokeRequest, InvokeResponse } from './contract.ts'
import { failureOf, instanceName, unary } from './unary.ts'

interface ServiceOptions {
  readonly instances: Instances
  readonly logger: Logger
}

const noData = Buffer.alloc(0)

/** The gRPC service InputBinding: events for the application. */
export function createInputService({ instances, logger }: ServiceOptions) {
  return {
    Init: initOf('input', { instances, logger }),
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
    Ping: unary(logger, async () => ({})),
  }
}

/** The gRPC service OutputBinding: payloads that the application publishes. */
export function createOutputService({ instances, logger }: ServiceOptions) {
  const operations = component.create().operations()
  return {
    Init: initOf('output', { instances, logger }),
    Invoke: unary<InvokeRequest, InvokeResponse>(
      logger,
      async (call) => {
        // After a restart of this process daprd sends calls without `Init`: they are counted and logged, too.
        const instance = instances.obtain(instanceName(call.metadata))
        refuseTooManyNames(call.request)
        const { metadata } = await whileAwaited(call, 'cancelled', (signal) => instance.invoke(call.request, signal))
        return { data: noData, metadata, contentType: '' }
      },
      ({ metadata }, { code, durationMs }) => instances.find(instanceName(metadata))?.counters.invoke(code, durationMs),
    ),
    ListOperations: unary(logger, async () => ({ operations })),
    Ping: unary(logger, async () => ({})),
  }
}

/** The method `Init` of one side. Its end is logged and counted. */
function initOf(side: Side, { instances, logger }: ServiceOptions) {
  return unary<InitRequest, object>(
    logger,
    async ({ request, metadata }) => {
      await instances.init(instanceName(metadata), side, request.metadata?.properties ?? {})
      return {}
    },
    ({ metadata }, { code, error }) => {
      const instance = instances.find(instanceName(metadata))
      instance?.counters.init(side, code)
      if (error instanceof BindingError) instance?.logger.error(`Init of the ${side} side failed: ${error.message}`)
      else if (error === undefined) instance?.logger.debug(`Init of the ${side} side is done`)
    },
  )
}
