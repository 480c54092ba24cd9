/** The gRPC services `InputBinding` and `OutputBinding`: what each method does, and the status, count and log of a call that ends. */
import {
  type handleUnaryCall,
  type Metadata,
  type ServerDuplexStream,
  type ServerUnaryCall,
  status,
} from '@grpc/grpc-js'
import { component } from '../../../binding/component.ts'
import type { Side } from '../../../core/component.ts'
import { BindingError, type BindingErrorCode } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import { nameOf } from '../../../support/process/error-code.ts'
import { inBackground } from '../../../support/work/work.ts'
import { statusDetails } from '../../shared/grpc.ts'
import { refuseTooManyNames, whileAwaited } from '../../shared/invoke.ts'
import type { Instance } from '../instance.ts'
import type { Instances } from '../instances.ts'
import type { AckMessage, EventMessage, InitRequest, InvokeRequest, InvokeResponse } from './contract.ts'

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

interface CallEnd {
  readonly code: string
  readonly durationMs: number
  readonly error?: unknown
}

/**
 * A handler of unary calls from a function that resolves or throws.
 *
 * @param onEnd called at the end of each call
 */
function unary<Request, Response>(
  logger: Logger,
  work: (call: ServerUnaryCall<Request, Response>) => Promise<Response>,
  onEnd: (call: ServerUnaryCall<Request, Response>, end: CallEnd) => void = () => {},
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const since = performance.now()
    const answered = work(call).then(
      (response) => {
        onEnd(call, { code: 'OK', durationMs: performance.now() - since })
        callback(null, response)
      },
      (error: unknown) => {
        const failure = failureOf(error)
        if (!(error instanceof BindingError)) logUnexpected(logger, error)
        onEnd(call, { code: String(status[failure.code]), durationMs: performance.now() - since, error })
        callback(failure)
      },
    )
    inBackground(answered, (error) => logUnexpected(logger, error))
  }
}

/** The component's name, from the gRPC metadata of the call. Empty where the host gives none. */
function instanceName(metadata: Metadata): string {
  return String(metadata.get('x-component-instance')[0] ?? '').slice(0, 256)
}

/** Logs the place of the error, not its message: that may hold a secret. */
function logUnexpected(logger: Logger, error: unknown): void {
  const stack = error instanceof Error ? (error.stack ?? '') : ''
  const at = stack.split('\n').find((line) => /^\s+at /.test(line))
  logger.error('a call failed unexpectedly', { error: nameOf(error), at: at?.trim() })
}

/** The gRPC status for each error. */
export const statusByCode: Readonly<Record<BindingErrorCode, keyof typeof status>> = {
  METADATA_INVALID: 'INVALID_ARGUMENT',
  NOT_INITIALIZED: 'FAILED_PRECONDITION',
  ALREADY_INITIALIZED: 'FAILED_PRECONDITION',
  CLOSED: 'UNAVAILABLE',
  OPERATION_UNSUPPORTED: 'UNIMPLEMENTED',
  SIDE_NOT_CONFIGURED: 'FAILED_PRECONDITION',
  PORT_UNAVAILABLE: 'FAILED_PRECONDITION',
  CREDENTIALS_REJECTED: 'UNAUTHENTICATED',
  PERMISSION_DENIED: 'PERMISSION_DENIED',
  PROVIDER_NOT_REGISTERED: 'FAILED_PRECONDITION',
  SCOPE_NOT_FOUND: 'NOT_FOUND',
  HANDSHAKE_FAILED: 'FAILED_PRECONDITION',
  SUBSCRIPTION_REJECTED: 'FAILED_PRECONDITION',
  PAYLOAD_INVALID: 'INVALID_ARGUMENT',
  PAYLOAD_TOO_LARGE: 'INVALID_ARGUMENT',
  PUBLISH_REJECTED: 'FAILED_PRECONDITION',
  PUBLISH_UNAVAILABLE: 'UNAVAILABLE',
  OVERLOADED: 'RESOURCE_EXHAUSTED',
  TIMEOUT: 'DEADLINE_EXCEEDED',
  ABORTED: 'CANCELLED',
  PLUGIN_FAILED: 'INTERNAL',
}

/** The status and text for an error. The text of an unexpected error stays inside: it may hold a secret. */
export function failureOf(error: unknown) {
  if (!(error instanceof BindingError)) {
    return { code: status.INTERNAL, details: 'an unexpected error; the log of the component has it' }
  }
  return { code: status[statusByCode[error.code]], details: statusDetails(error.message) }
}
