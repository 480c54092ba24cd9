/** Events as calls of the application over gRPC (`AppCallback`). */
import { isIPv6 } from 'node:net'
import { Client, credentials, Metadata, status } from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import { z } from 'zod'
import { readTraceContext } from '../../../core/telemetry.ts'
import { withLimit } from '../../../support/time/clock.ts'
import { loadRuntimeContract } from '../api/runtime-contract.ts'
import {
  type AppChannel,
  type AppChannelOptions,
  type EventAnswer,
  healthTimeoutMs,
  isReachable,
  probeTimeoutMs,
} from './app-channel.ts'

/** The message `BindingEventResponse`. */
const eventAnswer = z.object({ to: z.array(z.string()), data: z.instanceof(Buffer), concurrency: z.number() })

/** The application is asked again and again, so it must be found soon after it starts. */
const maxReconnectDelayMs = 1_000

/** Calls to an application over gRPC: the service `AppCallback` of Dapr. Opens no connection before the first call. */
export function createGrpcAppChannel(options: AppChannelOptions): AppChannel {
  const { address, port, token, maxConcurrency, onGone = () => {} } = options
  const { AppCallback, AppCallbackHealthCheck } = loadRuntimeContract()
  const host = isIPv6(address) ? `[${address}]` : address
  const client = new Client(`${host}:${port}`, credentials.createInsecure(), {
    // The application is beside us, whatever proxy the environment names.
    'grpc.enable_http_proxy': 0,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': maxReconnectDelayMs,
    'grpc.use_local_subchannel_pool': 1,
  })
  const inSlot = createSlots(maxConcurrency)

  function call(
    method: MethodDefinition<object, object> | undefined,
    request: object,
    signal: AbortSignal,
    sent: Readonly<Record<string, string>> = {},
  ): Promise<object> {
    if (!method) throw new TypeError('proto/runtime.proto lacks a method')
    const { path, requestSerialize, responseDeserialize } = method
    const metadata = new Metadata()
    if (token) metadata.set('dapr-api-token', token.reveal())
    for (const [key, value] of Object.entries(sent)) metadata.set(key, value)
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const running = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadata,
        (error, answer) => {
          signal.removeEventListener('abort', cancel)
          if (error) reject(error)
          else resolve(answer ?? {})
        },
      )
      const cancel = () => running.cancel()
      signal.addEventListener('abort', cancel, { once: true })
    })
  }

  return {
    addressOf: ({ name }) => name,
    refusal: (name, code) =>
      `the application does not name ${name} in its answer to ListInputBindings (${status[code]}), so it takes no events of it. ` +
      'Name it there, or write direction: input into the component',
    probe: (name) =>
      withLimit({ ms: probeTimeoutMs }, async (signal) => {
        try {
          const answer = await call(AppCallback.ListInputBindings, {}, signal)
          const bindings: unknown = 'bindings' in answer && answer.bindings
          if (Array.isArray(bindings) && bindings.includes(name)) return { kind: 'subscribed' }
          return { kind: 'refused', status: status.OK }
        } catch (error) {
          const code = statusOf(error)
          if (signal.aborted) return { kind: 'silent' }
          if (code === status.UNAVAILABLE) return { kind: 'unreachable', why: status[code] }
          return { kind: 'refused', status: code }
        }
      }),
    async deliver(name, { data, metadata, signal }) {
      const request = { name, data, metadata }
      // As headers of the call too, where instrumentations of gRPC look for it.
      const trace = readTraceContext(metadata)
      try {
        const answer = await inSlot(() => call(AppCallback.OnBindingEvent, request, signal, { ...trace }), signal)
        return readAnswer(answer)
      } catch (error) {
        if (signal.aborted) throw new Error('the application did not answer in time')
        const code = statusOf(error)
        if (code === status.UNAVAILABLE && !(await isReachable(address, port))) {
          onGone()
          throw new Error('the application could not be reached')
        }
        throw new Error(`the application answered ${status[code]}`)
      }
    },
    reachable: () => isReachable(address, port),
    async healthy() {
      try {
        await withLimit({ ms: healthTimeoutMs }, (signal) => call(AppCallbackHealthCheck.HealthCheck, {}, signal))
        return true
      } catch {
        return false
      }
    },
    close: () => client.close(),
  }
}

function readAnswer(answer: object): EventAnswer | undefined {
  const { to, data, concurrency } = eventAnswer.parse(answer)
  return to.length === 0 ? undefined : { to, data, isParallel: concurrency === 1 }
}

function statusOf(error: unknown): status {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : status.UNKNOWN
}

/**
 * Makes a function that runs work when one of so many places is free, first come first served. It rejects with the reason of `signal`
 * where that aborts before.
 */
function createSlots(count: number) {
  let free = count
  const waiting = new Set<() => void>()

  function waitForPlace(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.add(resolve)
      signal.addEventListener('abort', () => waiting.delete(resolve) && reject(signal.reason), { once: true })
    })
  }

  return async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    signal.throwIfAborted()
    if (free > 0) free--
    else await waitForPlace(signal)
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        next()
      } else free++
    }
  }
}
