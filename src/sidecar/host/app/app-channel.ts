/** Events as requests to the application over HTTP. */
import { Agent, type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { posix } from 'node:path'
import type { ReceivedEvent } from '../../../core/event.ts'
import type { Secret } from '../../../core/secret.ts'
import { tryConnection } from '../../../support/net/probe.ts'
import { codeOf } from '../../../support/process/error-code.ts'
import { withLimit } from '../../../support/time/clock.ts'

export interface AppChannelOptions {
  readonly address: string
  readonly port: number
  /** Requests to the application at once; the others wait. */
  readonly maxConcurrency: number
  /** Sent along as `dapr-api-token`, so that the application can tell who calls. */
  readonly token?: Secret | undefined
  /** Called when an event could not be posted because nothing listens there any more. */
  readonly onGone?: () => void
}

/** What is posted of an event, and the signal that ends the request. */
export type PostedEvent = Pick<ReceivedEvent, 'data' | 'metadata' | 'signal'>

/** What the application wants published in answer to an event. */
export interface EventAnswer {
  /** The names of the components that publish the data, one at least. */
  readonly to: readonly string[]
  readonly data: Buffer
  /** All at once; else one after the other. */
  readonly isParallel: boolean
}

/** The answer to the question whether the application takes events at an address. */
export type Probed =
  | { readonly kind: 'subscribed' }
  | { readonly kind: 'refused'; readonly status: number }
  /** The application did not answer in {@link probeTimeoutMs}. */
  | { readonly kind: 'silent' }
  /** `why`: the code of the error. */
  | { readonly kind: 'unreachable'; readonly why: string }

/** Calls to the application over HTTP, on persistent connections. */
export interface AppChannel {
  /** The address of a component's events in the application, for `probe` and `deliver`. */
  addressOf(component: { readonly name: string; readonly route: string | undefined }): string
  /** Says why the application takes no events at an address, by the status of `probe`, and what to do. */
  refusal(address: string, status: number): string
  /** Asks with OPTIONS whether the application takes events at a route: 2xx and 405 mean yes, as for Dapr. */
  probe(route: string): Promise<Probed>
  /**
   * Posts an event to a route. Rejects unless the answer is 2xx, and when `event.signal` aborts. Resolves with what the application
   * wants published: over gRPC only, because Dapr ignores it over HTTP.
   */
  deliver(route: string, event: PostedEvent): Promise<EventAnswer | undefined>
  reachable(): Promise<boolean>
  /** Does GET of a path answer 2xx within half a second? */
  healthy(path: string): Promise<boolean>
  close(): void
}

export const probeTimeoutMs = 3_000
export const healthTimeoutMs = 500

/** Opens nothing yet: connections come with the first call. */
export function createAppChannel(options: AppChannelOptions): AppChannel {
  const { address: host, port, token } = options
  const agent = new Agent({ keepAlive: true, maxSockets: options.maxConcurrency, scheduling: 'lifo' })
  /** Probes do not wait behind events: a busy application is not unhealthy. */
  const probeAgent = new Agent()
  const authorization = token && { 'dapr-api-token': token.reveal() }

  interface Call {
    readonly method: 'GET' | 'OPTIONS' | 'POST'
    readonly path: string
    readonly headers?: OutgoingHttpHeaders
    readonly body?: Buffer
    readonly signal: AbortSignal
  }

  async function send(call: Call, isRetry = false): Promise<number> {
    const { method, path, headers, body, signal } = call
    const by = method === 'POST' ? agent : probeAgent
    signal.throwIfAborted()
    const out = request({ agent: by, host, port, method, path, headers: { ...headers, ...authorization } })
    const outcome = await sendRequest(out, body, signal)
    if ('status' in outcome) return outcome.status
    const { error, isAnswered } = outcome
    // The application closed the persistent connection just before, so it has not seen the request.
    const wasClosed = out.reusedSocket && !isAnswered && ['ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '')
    if (wasClosed && !isRetry && !signal.aborted) return send(call, true)
    throw error
  }

  return {
    addressOf: ({ name, route }) => (route?.startsWith('/') ? route : `/${route || name}`),
    refusal: (address, status) =>
      `the application answers OPTIONS ${address} with ${status}, so it takes no events there: ` +
      'answer 2xx or 405, or write direction: input into the component',
    probe: (route) =>
      withLimit({ ms: probeTimeoutMs }, async (signal) => {
        try {
          const status = await send({ method: 'OPTIONS', path: pathOf(route), headers: json, signal })
          return isSuccess(status) || status === 405 ? { kind: 'subscribed' } : { kind: 'refused', status }
        } catch (error) {
          return signal.aborted ? { kind: 'silent' } : { kind: 'unreachable', why: whyLost(error) }
        }
      }),
    async deliver(route, { data: body, metadata, signal }) {
      const headers = { ...metadata, ...json, 'content-length': body.length }
      let status: number
      try {
        status = await send({ method: 'POST', path: pathOf(route), headers, body, signal })
      } catch (error) {
        if (signal.aborted) throw new Error('the application did not answer in time')
        // A connection that breaks does not say that the application is gone: it may listen all the same.
        if (!(await isReachable(host, port))) options.onGone?.()
        throw new Error(`the application could not be reached (${whyLost(error)})`)
      }
      if (!isSuccess(status)) throw new Error(`the application answered ${status}`)
      return undefined
    },
    reachable: () => isReachable(host, port),
    async healthy(path) {
      try {
        const ask = (signal: AbortSignal) => send({ method: 'GET', path: pathOf(path), signal })
        return isSuccess(await withLimit({ ms: healthTimeoutMs }, ask))
      } catch {
        return false
      }
    },
    close() {
      agent.destroy()
      probeAgent.destroy()
    },
  }
}

/** Does anybody accept a connection at that port within half a second? */
export const isReachable = (host: string, port: number): Promise<boolean> =>
  withLimit({ ms: healthTimeoutMs }, (signal) => tryConnection({ host, port }, signal)).then(
    () => true,
    () => false,
  )

/** Dapr sends every event as this, whatever its own content type. */
const json = { 'content-type': 'application/json' } as const

const whyLost = (error: unknown): string => codeOf(error) ?? 'connection lost'

const isSuccess = (status: number) => status >= 200 && status < 300

const pathOf = (route: string) => encodeURI(posix.normalize(`/${route}`).toWellFormed())

type Outcome =
  | { readonly status: number }
  /** `isAnswered`: the other side has begun to answer, so it has seen the request. */
  | { readonly error: unknown; readonly isAnswered: boolean }

/** Longest answer in bytes that is read to its end, so that the connection can be used again. Nobody needs its content. */
const maxDrained = 65_536

/**
 * Sends a request and reads its answer to the end. Settles however the call ends: by an answer, an upgrade, an error, a
 * connection that is closed without a word, or the signal. A connection that can't be used again is closed.
 */
function sendRequest(out: ClientRequest, body: Buffer | undefined, signal: AbortSignal): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  let isAnswered = false
  let hasBody = false

  const fail = (error: unknown) => resolve({ error, isAnswered })
  const onAbort = () => fail(signal.reason)

  function read(answer: IncomingMessage): void {
    isAnswered = hasBody = true
    const { statusCode: status = 0 } = answer
    const done = () => resolve({ status })
    // A 101 that names no protocol: what follows is no body, and would have no end.
    if (status === 101) {
      done()
      out.destroy()
      return
    }
    let length = 0
    answer
      .on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length <= maxDrained) return
        done()
        out.destroy()
      })
      .on('end', done)
      .on('error', fail)
      .on('close', () => fail(new Error('the answer is incomplete')))
  }

  signal.addEventListener('abort', onAbort, { once: true })
  out
    .on('response', read)
    // Nobody asked for an upgrade. Node then emits neither a response nor an error.
    .on('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy()
      resolve({ status: statusCode })
    })
    .on('information', () => {
      isAnswered = true
    })
    .on('error', fail)
    // An answer that ends with its connection is still read after this.
    .on('close', () => hasBody || fail(new Error('the connection was closed')))
    .end(body)
  return promise.finally(() => {
    signal.removeEventListener('abort', onAbort)
    if (signal.aborted || !out.writableFinished) out.destroy()
  })
}
