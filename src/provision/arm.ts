/** The connection to Azure Resource Manager: what each call is bound by, lists page by page, the host name of a namespace. */
import { EventGridManagementClient } from '@azure/arm-eventgrid'
import {
  createHttpHeaders,
  createPipelineRequest,
  type HttpMethods,
  type PipelineResponse,
  RestError,
} from '@azure/core-rest-pipeline'
import { clientOptions, createTrustPolicy, maxAnswerBytes } from '../azure/http.ts'
import { refuseUnusableProxy } from '../azure/proxy.ts'
import { ArmFailureError } from '../azure/read-failure.ts'
import type { RenewableCredential } from '../azure/token-keeper.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { eventGridApiVersion } from '../core/versions.ts'
import type { AzureEnvironment } from '../metadata/fields/addresses.ts'
import { metadataInvalid } from '../metadata/fields/faults.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { pause, type SteadyClock, systemClock, withLimit } from '../support/time/clock.ts'
import { propertiesIn } from './values.ts'

export interface ArmOptions {
  readonly environment: AzureEnvironment
  readonly subscriptionId: string
  readonly credential: RenewableCredential
  readonly endpoints: Endpoints
  /** Longest that one request may take, the token for it included, in ms. @default 30_000 */
  readonly requestTimeoutMs?: number
  readonly clock?: SteadyClock
}

export interface ArmRequest {
  /** @default GET */
  readonly method?: HttpMethods
  /** A path that begins with a slash, or a URL of ARM, as in a `nextLink`. Its own `api-version` stays. */
  readonly path: string
  /** @default the API version of Event Grid's resources */
  readonly apiVersion?: string
  readonly body?: object
}

export type Arm = ReturnType<typeof connectArm>

/**
 * The base URL of Azure Resource Manager, without a trailing slash.
 *
 * @throws BindingError METADATA_INVALID where the URL is not https
 */
export function resourceManagerOf(endpoints: Endpoints, environment: AzureEnvironment): string {
  const resourceManager = (endpoints.resourceManager ?? environment.resourceManager).replace(/(?<!\/)\/+$/, '')
  if (/^https:\/\//i.test(resourceManager)) return resourceManager
  const fix = 'give it, or AZURE_RESOURCE_MANAGER_URL, as an https URL'
  const issue = { field: 'endpoints.resourceManager', rule: 'must be an https URL', fix }
  throw metadataInvalid('the endpoint of Azure Resource Manager is not https', [issue])
}

/**
 * Connects to ARM by the SDK's client. Retries are the caller's: the SDK's own are off, so that retries do not multiply. The SDK's
 * operations for event subscriptions are not used: their model of 2022 has no namespaces, and drops unknown members of bodies and answers.
 *
 * @throws BindingError METADATA_INVALID where the endpoint of ARM is not https, or would be asked through a proxy of an unknown kind
 */
export function connectArm(options: ArmOptions) {
  const { environment, subscriptionId, credential, endpoints, requestTimeoutMs = 30_000, clock = systemClock } = options
  const resourceManager = resourceManagerOf(endpoints, environment)
  refuseUnusableProxy(resourceManager)
  const own = new URL(resourceManager).origin
  const scope = environment.resourceManagerScope
  const client = new EventGridManagementClient(credential, subscriptionId, {
    ...clientOptions({
      connect: createTrustPolicy(endpoints),
      entra: { credential, scope },
      answerLimit: { maxBytes: maxAnswerBytes, longer: 'fail' },
    }),
    endpoint: resourceManager,
    credentialScopes: scope,
  })

  /** Sends one request. Rejects with a RestError where ARM refuses it, or as the SDK does: `readFailure` reads both. */
  async function send(given: ArmRequest, { signal, deadline }: CallLimits): Promise<PipelineResponse> {
    const { method = 'GET', path, apiVersion = eventGridApiVersion, body } = given
    const url = new URL(path.startsWith('/') ? resourceManager + path : path)
    if (url.origin !== own) {
      // A URL that an answer names (`Azure-AsyncOperation`, `Location`, `nextLink`) would get the token.
      const message = `it names another host, ${url.host}; the token is sent to ${own} only`
      throw new ArmFailureError({ kind: 'lost', message })
    }
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', apiVersion)
    const request = createPipelineRequest({
      url: url.href,
      method,
      headers: createHttpHeaders({ accept: 'application/json', ...(body && { 'content-type': 'application/json' }) }),
      ...(body && { body: JSON.stringify(body) }),
    })
    const ms = Math.max(1, Math.min(requestTimeoutMs, deadline - clock.elapsed()))
    // The SDK's own timer leaves out the token, outlives an aborted request and keeps the process alive.
    const response = await withLimit({ ms, signal }, (limited) => {
      request.abortSignal = limited
      return client.sendRequest(request)
    })
    const { status: statusCode } = response
    if (statusCode < 300) return response
    throw new RestError(`Azure Resource Manager answered ${statusCode}`, { statusCode, request, response })
  }

  return {
    resourceManager,
    clock,
    send,
    /** The JSON of the answer to a request; `undefined` where it has none. */
    ask: async (request: ArmRequest, limits: CallLimits) => readJson((await send(request, limits)).bodyAsText),
  }
}

export interface CallLimits {
  readonly signal: AbortSignal
  /** When the call ends, by `elapsed` of the clock. */
  readonly deadline: number
}

/**
 * Waits within the limits of a call.
 *
 * @throws ArmFailureError of kind `deadline` with this message, at once, where the deadline comes first; the reason of the signal
 */
export async function pauseWithin(
  { signal, deadline }: CallLimits,
  { clock, ms, message }: { readonly clock: SteadyClock; readonly ms: number; readonly message: string },
): Promise<void> {
  if (clock.elapsed() + ms >= deadline) throw new ArmFailureError({ kind: 'deadline', message })
  await pause(clock, ms, signal)
  signal.throwIfAborted()
}

/** How long a write that was sent is still awaited after its caller was aborted, in ms. */
const lastAnswerMs = 10_000

/**
 * Sends a write. The abort of the caller does not abort a write that was sent: its answer is awaited for some seconds. Otherwise the next
 * reader, such as the side that an `update` opens, could read values that the write is about to change.
 */
export async function untilAnswered<T>(
  { signal, deadline }: CallLimits,
  clock: Pick<SteadyClock, 'setTimer'>,
  send: (limits: CallLimits) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const late = new AbortController()
  let cancel = () => {}
  const startTimer = () => {
    cancel = clock.setTimer(lastAnswerMs, () => late.abort(signal.reason))
  }
  signal.addEventListener('abort', startTimer, { once: true })
  try {
    return await send({ signal: late.signal, deadline })
  } finally {
    cancel()
    signal.removeEventListener('abort', startTimer)
  }
}

/** Pages of a list that are read. Azure allows 500 event subscriptions of one source. */
const maxPages = 100

/** A passing failure: another answer may be right. */
export const unreadable = (message: string) => new ArmFailureError({ kind: 'answerUnread', message })

/**
 * All entries of a list, page by page.
 *
 * @param get asks for a path, or for the `nextLink` of a page
 * @param what the entries, for messages
 */
export async function readList(
  get: (path: string) => Promise<unknown>,
  path: string,
  what: string,
): Promise<readonly unknown[]> {
  const entries: unknown[] = []
  let next: string | undefined = path
  for (let page = 0; next !== undefined; page++) {
    if (page === maxPages) throw unreadable(`the list of ${what} has more than ${maxPages} pages`)
    const answer = await get(next)
    if (!isRecord(answer) || !Array.isArray(answer.value) || 'error' in answer || !isLink(answer.nextLink)) {
      throw unreadable(`it is not a list of ${what}`)
    }
    entries.push(...answer.value)
    next = answer.nextLink || undefined
  }
  return entries
}

const isLink = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string'

/** Rejects where ARM does not answer, or names none that anybody can ask. */
export async function readHostname(arm: Arm, namespaceId: string, limits: CallLimits): Promise<string> {
  const answer = await arm.ask({ path: namespaceId }, limits)
  const { topicsConfiguration } = propertiesIn(answer)
  const hostname = isRecord(topicsConfiguration) ? topicsConfiguration.hostname : undefined
  const isHost = typeof hostname === 'string' && /^[\w.:/-]{1,500}$/.test(hostname)
  // A text that only looks like a host name, such as `host:x`, is no address.
  if (isHost && URL.canParse(`https://${hostname}`)) return hostname
  throw new ArmFailureError({ kind: 'answerUnread', message: `it names no host for ${namespaceId}` })
}
