/** Calls to Resource Manager: token, api-version, patience with 429 and 503, and operations that take their time. */
import type { HttpMethods } from '@azure/core-rest-pipeline'
import { readRetryAfter } from '../../../src/azure/http.ts'
import { eventGridApiVersion, resourceApiVersions } from '../../../src/core/versions.ts'
import { isRecord } from '../../../src/support/text/json-text.ts'
import { pause } from '../../../src/support/time/clock.ts'
import type { Target } from './target.ts'
import type { Send, WireAnswer, WireRequest } from './wire.ts'
import type { WireClock } from './wire-clock.ts'

export const apiVersions = {
  eventGrid: eventGridApiVersion,
  storage: '2023-05-01',
  authorization: resourceApiVersions.permissions,
  resources: resourceApiVersions.resources,
} as const

export interface ArmOptions {
  readonly apiVersion?: string
  readonly body?: unknown
  /** True: a 429 or a 503 is an answer like any other. @default false: it is asked again, as Retry-After says, for some minutes */
  readonly impatient?: boolean
}

/** How a write ended: its first answer, and the end of its operation. */
export interface Written {
  readonly first: WireAnswer
  /** `Succeeded`, `Failed`, `Canceled`; `refused` where the first answer is no success; `unended` where the time was over. */
  readonly end: string
  /** Of an operation that failed, or of a refusal. */
  readonly error: { readonly code: string; readonly message: string } | undefined
  /** The statuses in their order, each once. */
  readonly statuses: readonly string[]
}

export interface Arm {
  send(method: HttpMethods, path: string, options?: ArmOptions): Promise<WireAnswer>
  /** Sends a write and waits for the end of its operation, as long as `limitMs`. */
  write(method: HttpMethods, path: string, options?: ArmOptions & { readonly limitMs?: number }): Promise<Written>
  /** Waits for the end of an operation that an answer has begun. */
  finish(first: WireAnswer, limitMs?: number): Promise<Written>
}

/** The most waits for a throttled call, and the longest of them all. */
const maxWaits = 10
const maxWaitMs = 120_000
/** Where the answer does not say how long to wait. */
const usualPauseMs = 2_000
/** A namespace takes minutes. */
export const operationLimitMs = 15 * 60_000

const ended = new Set(['succeeded', 'failed', 'canceled', 'cancelled'])

export function createArm(
  target: Pick<Target, 'resourceManager' | 'resourceManagerScope' | 'credential'>,
  send: Send,
  { clock, signal }: { readonly clock: WireClock; readonly signal: AbortSignal },
): Arm {
  const own = new URL(target.resourceManager).origin
  const pauseOf = ({ headers }: WireAnswer) =>
    Math.min(readRetryAfter((name) => headers[name], clock.now()) ?? usualPauseMs, maxWaitMs)

  async function patient(request: WireRequest, impatient: boolean): Promise<WireAnswer> {
    // The token goes to Resource Manager alone, whatever an answer names.
    if (new URL(request.url).origin !== own) throw new Error(`an answer names another host than ${own}`)
    for (let waits = 0; ; waits++) {
      const token = await target.credential.getToken(target.resourceManagerScope, { abortSignal: signal })
      if (token === null) throw new Error('the credential gives no token for Resource Manager')
      const answer = await send({
        ...request,
        headers: { ...request.headers, authorization: `Bearer ${token.token}` },
      })
      if (impatient || (answer.status !== 429 && answer.status !== 503) || waits === maxWaits) return answer
      await pause(clock, pauseOf(answer), signal)
      signal.throwIfAborted()
    }
  }

  async function sendArm(method: HttpMethods, path: string, options: ArmOptions = {}): Promise<WireAnswer> {
    const { apiVersion = versionOf(path), body, impatient = false } = options
    // The `nextLink` of a list is a whole URL.
    const url = new URL(path.startsWith('/') ? `${target.resourceManager}${path}` : path)
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
    // A path with two slashes stays as it is.
    return patient({ asked: 'arm', method, url: url.href, body: body as object | undefined }, impatient)
  }

  async function finish(first: WireAnswer, limitMs = operationLimitMs): Promise<Written> {
    if (first.status >= 400) return { first, end: 'refused', error: errorOf(first.body), statuses: [] }
    const statuses: string[] = []
    const note = (status: string) => statuses.at(-1) === status || statuses.push(status)
    const status = first.headers['azure-asyncoperation']
    const location = first.headers.location
    const url = status ?? location
    // The body of a 200 or 201 without either tells the end itself.
    if (url === undefined) return { first, end: stateOf(first.body) ?? 'Succeeded', error: undefined, statuses }
    const end = clock.now() + limitMs
    for (let last = first; ; ) {
      await pause(clock, pauseOf(last), signal)
      signal.throwIfAborted()
      last = await patient({ asked: 'arm', method: 'GET', url, polls: true }, false)
      if (status === undefined) {
        if (last.status >= 400) return { first, end: 'Failed', error: errorOf(last.body), statuses }
        if (last.status !== 202) return { first, end: 'Succeeded', error: undefined, statuses }
        note('202')
      } else {
        const told = isRecord(last.body) && typeof last.body.status === 'string' ? last.body.status : `${last.status}`
        note(told)
        if (last.status >= 400 || ended.has(told.toLowerCase()))
          return { first, end: last.status >= 400 ? 'Failed' : told, error: errorOf(last.body), statuses }
      }
      if (clock.now() >= end) return { first, end: 'unended', error: undefined, statuses }
    }
  }

  return {
    send: sendArm,
    finish,
    async write(method, path, { limitMs, ...options } = {}) {
      return finish(await sendArm(method, path, options), limitMs)
    },
  }
}

/** The api-version for what a path names last. */
function versionOf(path: string): string {
  const provider = /.*\/providers\/(Microsoft\.\w+)(?:\/|$)/i.exec(path)?.[1]?.toLowerCase()
  if (provider === 'microsoft.eventgrid')
    return /\/providers\/microsoft\.eventgrid(?:$|\?)/i.test(path) ? apiVersions.resources : apiVersions.eventGrid
  if (provider === 'microsoft.storage') return apiVersions.storage
  return provider === 'microsoft.authorization' ? apiVersions.authorization : apiVersions.resources
}

/** Code and message of an error's body. */
export function errorOf(body: unknown): Written['error'] {
  const error = isRecord(body) && isRecord(body.error) ? body.error : undefined
  return error && { code: String(error.code), message: String(error.message) }
}

/** The provisioning state in a body; `undefined` where it has none. */
function stateOf(body: unknown): string | undefined {
  const state = isRecord(body) && isRecord(body.properties) ? body.properties.provisioningState : undefined
  return typeof state === 'string' ? state : undefined
}
