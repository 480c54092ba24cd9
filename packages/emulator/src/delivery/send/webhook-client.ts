// HTTP client for webhooks: TLS version, kept-alive connections, no redirects, 64 KiB answers, hints.
import http from 'node:http'
import https from 'node:https'
import tls from 'node:tls'
import { messageOf } from '../../../../../src/support/process/error-code.ts'
import { realTimers } from '../../../../../src/support/time/clock.ts'
import { ledBy } from '../../server/tls/ingress-front.ts'
import type { DeliveryOptions } from '../delivery-options.ts'
import type { WebhookResult } from './channel.ts'

interface WebhookRequest {
  readonly method: 'OPTIONS' | 'POST'
  /** The public URL, which the ingress map may send elsewhere. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** In real milliseconds: the time of a manual clock stands still while a request is under way. */
  readonly timeoutMs: number
  /** Whether to wait for the whole body of the answer. @default false: for its beginning */
  readonly readAnswer?: boolean
  readonly signal?: AbortSignal | undefined
  /**
   * Receives the status of an answer that comes after the time-out, at most `withinMs` later by the emulator's clock.
   * @default none: the request is aborted at the time-out
   */
  readonly late?: { readonly withinMs: number; readonly take: (status: number) => void } | undefined
}

export type WebhookClient = ReturnType<typeof createWebhookClient>

/** The maximum number of requests that stay open after their time-out; further ones are aborted. */
const maxLate = 256
const answerLimitBytes = 64 * 1024
/** How much of an answer's body is read, and how long it is waited for. */
interface BodyPart {
  readonly bytes: number
  /** @default until its end */
  readonly waitMs?: number
}
const beginning: BodyPart = { bytes: 4096, waitMs: 100 }
const whole: BodyPart = { bytes: answerLimitBytes }

/**
 * Makes the client, which sends requests to subscribers over kept-alive connections. It follows no redirects, and reads the first
 * 64 KiB of an answer.
 */
export function createWebhookClient(options: Pick<DeliveryOptions, 'clock' | 'ingress' | 'trustedCertificates'>) {
  // The queues bound the number of requests; a pool that queues requests could not be emptied.
  const pool = { keepAlive: true, scheduling: 'lifo' } as const
  const plain = new http.Agent(pool)
  // Made at the first https request, and parsed once: parsing some hundred certificates is slow, and an agent does it for each connection.
  let secure: https.Agent | undefined
  const secureAgent = () => {
    if (secure) return secure
    const ca = [...tls.getCACertificates('default'), ...options.trustedCertificates]
    secure = new https.Agent({ ...pool, secureContext: tls.createSecureContext({ ca }) })
    return secure
  }

  let late = 0

  const exchange = async (request: WebhookRequest): Promise<WebhookResult> => {
    const mapped = options.ingress(request.url)
    const target = mapped === undefined ? request.url : ledBy(request.url, mapped)
    const started = performance.now()
    return new Promise((resolve) => {
      const done = (result: Omit<WebhookResult, 'target' | 'durationMs'> & { readonly durationMs?: number }) => {
        cancelTimer()
        request.signal?.removeEventListener('abort', abort)
        resolve({ target: target.href, durationMs: performance.now() - started, ...result })
      }
      const secured = target.protocol === 'https:'
      const sending = (secured ? https : http).request({
        agent: secured ? secureAgent() : plain,
        method: request.method,
        host: target.hostname.replace(/^\[|\]$/g, ''),
        port: target.port || (secured ? 443 : 80),
        path: target.pathname + target.search,
        // The subscriber sees its public name, as behind a real ingress; its certificate must have that name.
        servername: secured ? serverName(request.url) : '',
        ...(secured && { minVersion: 'TLSv1.2' }),
        headers: {
          host: request.url.host,
          ...request.headers,
          ...(request.body !== undefined && { 'content-length': Buffer.byteLength(request.body) }),
        },
      })
      const fail = (outcome: NonNullable<WebhookResult['failure']>['outcome'], message: string) => {
        done({ failure: { outcome, message } })
        sending.destroy()
      }
      const abort = () => fail('Aborted', 'The request was given up.')
      let endLate: (() => void) | undefined
      const timeout = realTimers.setTimeout(() => {
        const message = `No answer within ${request.timeoutMs / 1000} s.`
        if (!request.late || late >= maxLate) return fail('TimedOut', message)
        late++
        const cancel = options.clock.setTimer(request.late.withinMs, () => sending.destroy())
        endLate = () => {
          late--
          cancel()
          endLate = undefined
        }
        done({ failure: { outcome: 'TimedOut', message } })
      }, request.timeoutMs)
      const cancelTimer = () => realTimers.clearTimeout(timeout)
      sending.on('close', () => endLate?.())
      request.signal?.addEventListener('abort', abort, { once: true })
      sending.on('error', (error: NodeJS.ErrnoException) => {
        const hint = failureHint(request.url, target, error)
        done({ failure: { outcome: failureOf(error), message: error.message, hint } })
      })
      // Nobody asked for an upgrade. Node then emits neither a response nor an error.
      sending.on('upgrade', ({ statusCode: status = 0 }, socket) => {
        socket.destroy()
        done({ status, headers: {}, body: '' })
      })
      sending.on('response', (answer) => {
        const status = answer.statusCode ?? 0
        if (endLate) {
          endLate()
          readToEnd(answer)
          request.late?.take(status)
          return
        }
        const headers = plainHeaders(answer.headers)
        if (request.readAnswer) return readBody(answer, whole, (body) => done({ status, headers, body }))
        // The status settles the attempt, however long the body takes.
        cancelTimer()
        const durationMs = performance.now() - started
        readBody(answer, beginning, (body) => done({ status, headers, body, durationMs }))
      })
      if (request.signal?.aborted) abort()
      else sending.end(request.body)
    })
  }

  return {
    // A request that can't be sent, with an invalid header for instance, is a failed request.
    send: (request: WebhookRequest) => exchange(request).catch((error: unknown) => unsent(request.url, error)),
    close() {
      plain.destroy()
      secure?.destroy()
    },
  }
}

function unsent(url: URL, error: unknown): WebhookResult {
  return { target: url.href, durationMs: 0, failure: { outcome: 'Aborted', message: messageOf(error) } }
}

/** The host name for SNI and the check of the certificate; empty for an IP address, which has no SNI. */
function serverName(url: URL): string {
  return /^[\d.]+$|^\[/.test(url.hostname) ? '' : url.hostname
}

function failureOf(error: NodeJS.ErrnoException): 'SocketError' | 'ResolutionError' {
  return error.syscall === 'getaddrinfo' ? 'ResolutionError' : 'SocketError'
}

function plainHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

/** Calls back once with a part of an answer's body, or with what came before the connection broke. Ignores the rest. */
function readBody(answer: http.IncomingMessage, { bytes, waitMs }: BodyPart, take: (body: string) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => {
    realTimers.clearTimeout(timer)
    answer.off('data', keep).off('close', end)
    readToEnd(answer)
    take(Buffer.concat(chunks).toString('utf8', 0, bytes))
  }
  const keep = (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size >= bytes) end()
  }
  // An answer without a body costs no timer.
  const isEmpty = answer.headers['content-length'] === '0' || answer.statusCode === 204
  const timer = isEmpty || waitMs === undefined ? undefined : realTimers.setTimeout(end, waitMs)
  answer.on('error', () => {})
  if (isEmpty) end()
  else answer.on('data', keep).on('close', end)
}

/** Has the connection used again after a short answer, and closed in the middle of a long one. */
function readToEnd(answer: http.IncomingMessage): void {
  let size = 0
  answer.on('error', () => {})
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > answerLimitBytes) answer.destroy()
  })
}

/** Advice for the emulator's user where the network's error does not say what to do. Contains no query. */
function failureHint(url: URL, target: URL, error: NodeJS.ErrnoException): string | undefined {
  const rule = (to: string) =>
    `an ingress rule from ${url.origin}/ to ${to} (--ingress ${url.origin}/=${to}, ingress in its configuration, or ` +
    'emulator.setIngress in code)'
  if (/wrong version number|packet length too long/i.test(error.message)) {
    return `${target.origin} speaks plain http there: use ${rule(`http://${target.host}/`)}`
  }
  if (error.syscall === 'getaddrinfo' && url.href === target.href) {
    return `no ingress rule matches ${url.origin}${url.pathname}, and its host is unknown here: give ${rule('http://127.0.0.1:PORT/')}`
  }
  if (error.code === 'ECONNREFUSED') {
    const led = url.origin === target.origin ? '' : `, where ${url.origin} leads`
    return `nothing listens at ${target.origin}${led}`
  }
  return undefined
}
