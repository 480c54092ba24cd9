import type { Empty, InvokeRequest, InvokeResponse, ListOperationsResponse } from './contract.ts'
import { initOf, type ServiceOptions } from './input-service.ts'
import { instanceName, unary } from './unary.ts'

/** The operations of the output (specification, section 4.2). */
const operations = ['create']

const noData = Buffer.alloc(0)

/** The gRPC service OutputBinding: payloads that the application publishes. */
export function createOutputService({ instances, logger }: ServiceOptions) {
  return {
    Init: initOf('output', { instances, logger }),
    Invoke: unary<InvokeRequest, InvokeResponse>(
      logger,
      async (call) => {
        // After a restart of this process daprd sends calls without `Init`: they are counted and logged, too.
        const instance = instances.obtain(instanceName(call.metadata))
        const cancelled = new AbortController()
        const cancel = () => cancelled.abort()
        call.once('cancelled', cancel)
        try {
          const { metadata } = await instance.invoke(call.request, cancelled.signal)
          return { data: noData, metadata, contentType: '' }
        } finally {
          // grpc-js also emits it after the answer.
          call.off('cancelled', cancel)
        }
      },
      ({ metadata }, { code, durationMs }) => instances.find(instanceName(metadata))?.counters.invoke(code, durationMs),
    ),
    ListOperations: unary<Empty, ListOperationsResponse>(logger, async () => ({ operations })),
    Ping: unary<Empty, Empty>(logger, async () => ({})),
  }
}
