/** The credential that metadata describes, with a time limit for each token, and a record of the requests that asked for the token. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/core-auth'
import {
  createDefaultHttpClient,
  createHttpHeaders,
  createPipelineRequest,
  type HttpClient,
  type HttpMethods,
  RestError,
} from '@azure/core-rest-pipeline'
import {
  AzureCliCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  WorkloadIdentityCredential,
} from '@azure/identity'
import { ManagedIdentityApplication, type NetworkRequestOptions } from '@azure/msal-node'
import type { Endpoints } from '../core/endpoints.ts'
import { scrub } from '../core/scrub.ts'
import { type AzureEnvironment, azureEnvironments } from '../metadata/fields/addresses.ts'
import { metadataInvalid } from '../metadata/fields/faults.ts'
import type { CredentialMetadata } from '../metadata/typed/metadata.ts'
import { nameOf } from '../support/process/error-code.ts'
import { systemClock, within, withLimit } from '../support/time/clock.ts'
import { createAnswerLimitPolicy, maxAnswerBytes, readRetryAfter, route } from './http.ts'
import { refuseUnusableProxy } from './proxy.ts'
import { type Exchange, tokenFailure } from './refusals/entra-refusal.ts'
import { createTokenKeeper, type RenewableCredential } from './token-keeper.ts'

export interface CredentialOptions {
  readonly environment: AzureEnvironment
  readonly endpoints: Endpoints
  /** The host's own credential, for metadata of kind `host`. */
  readonly hostCredential?: TokenCredential | undefined
  /** Longest that getting a token may take, in ms. @default 30_000 */
  readonly tokenTimeoutMs?: number
}

/**
 * The credential that metadata describes. Its `getToken` throws BindingError CREDENTIALS_REJECTED where Entra refuses
 * the client, and NoTokenError where Entra could not be asked, so that a caller tries again. The object shows no secret,
 * however it is printed.
 * @throws BindingError METADATA_INVALID where the metadata describes none, when the authority host is not https or is asked through a proxy
 * of an unknown kind, or a host's credential is missing; CREDENTIALS_REJECTED when the process lacks what the kind of credential needs.
 */
export function createCredential(
  metadata: CredentialMetadata | undefined,
  options: CredentialOptions,
): RenewableCredential {
  if (!metadata) {
    const fix = 'give tenantId, clientId, clientSecret and subscriptionId, or azureCredential'
    const issue = { field: 'azureCredential', rule: 'is missing, and so are the fields of a client', fix }
    throw metadataInvalid('the component has no credential to ask Azure Resource Manager with', [issue])
  }
  const { tokenTimeoutMs = 30_000 } = options
  const { authorityHost: givenHost = options.environment.authorityHost } = options.endpoints
  const authorityHost = givenHost.replace(/(?<!\/)\/+$/, '')
  const secrets = metadata.kind === 'clientSecret' ? [metadata.clientSecret.reveal()] : []
  const context = {
    metadata,
    authorityHost,
    show: (text: string) => scrub(text, secrets),
  }
  const create = () => {
    try {
      return connect(metadata, options, authorityHost)
    } catch (error) {
      // Some credentials check their configuration in the constructor: a workload identity reads its environment variables.
      throw tokenFailure(error, [], context)
    }
  }
  // Fails at once where something is missing.
  create()

  async function fetchToken(scopes: string | string[], tokenOptions: GetTokenOptions): Promise<AccessToken> {
    const wait: TokenWait = { endpoints: options.endpoints, exchanges: [], over: new AbortController() }
    try {
      // A new credential each time: the libraries cache a token until the token expires by our clock. After a 429 or 5xx the libraries
      // send no request for a minute, and throw an error that looks like a refusal of the client.
      const token = await waits.run(wait, () => getInTime(create(), scopes, tokenOptions, tokenTimeoutMs))
      if (!token) throw new Error('the credential gave none')
      return token
    } catch (error) {
      const { abortSignal } = tokenOptions
      if (abortSignal?.aborted && !isTimeLimit(abortSignal)) throw error
      throw tokenFailure(error, wait.exchanges, context)
    } finally {
      wait.over.abort()
    }
  }
  return createTokenKeeper(fetchToken)
}

function connect(
  metadata: CredentialMetadata,
  { hostCredential }: CredentialOptions,
  authorityHost: string,
): TokenCredential {
  if (metadata.kind === 'host') {
    if (hostCredential) return hostCredential
    const fix = 'pass one as the option credential, or set azureCredential'
    throw metadataInvalid('no credential was handed over', [{ field: 'credential', rule: 'is missing', fix }])
  }
  if (!/^https:\/\//i.test(authorityHost)) {
    const fix = 'give it, or AZURE_AUTHORITY_HOST, as an https URL'
    const issue = { field: 'endpoints.authorityHost', rule: 'must be an https URL', fix }
    throw metadataInvalid("Entra's authority host is not https", [issue])
  }
  // The other kinds do not ask Entra themselves.
  if (metadata.kind !== 'cli' && metadata.kind !== 'managedIdentity') refuseUnusableProxy(authorityHost)
  const common = {
    authorityHost,
    // Instance discovery asks Microsoft's public cloud whether the authority host is valid. Private clouds are unknown there.
    disableInstanceDiscovery: !Object.values(azureEnvironments).some((known) => known.authorityHost === authorityHost),
    httpClient: observedClient,
  }
  // The callers of `getToken` retry, and wait as long as Entra's Retry-After says. Retries of the SDK would multiply these, so they are
  // off. The credential `default` keeps them: they know the answers of an identity endpoint that is still starting.
  const entra = { ...common, retryOptions: { maxRetries: 0 } }
  const client = 'clientId' in metadata && metadata.clientId ? { clientId: metadata.clientId } : {}
  const tenant = 'tenantId' in metadata && metadata.tenantId ? { tenantId: metadata.tenantId } : {}
  switch (metadata.kind) {
    case 'clientSecret':
      return new ClientSecretCredential(metadata.tenantId, metadata.clientId, metadata.clientSecret.reveal(), entra)
    case 'managedIdentity':
      // A pod with workload identity has no identity endpoint, and users write managedIdentity for such a pod too.
      return process.env.AZURE_FEDERATED_TOKEN_FILE && process.env.AZURE_TENANT_ID
        ? new WorkloadIdentityCredential({ ...entra, ...client })
        : createManagedIdentity(metadata.clientId, observedClient)
    case 'workloadIdentity':
      return new WorkloadIdentityCredential({ ...entra, ...tenant, ...client })
    case 'cli':
      return new AzureCliCredential({ ...tenant })
    case 'default': {
      const { clientId } = metadata
      const clients = clientId && { managedIdentityClientId: clientId, workloadIdentityClientId: clientId }
      return new DefaultAzureCredential({ ...common, ...tenant, ...clients })
    }
  }
}

/** Whether the signal aborted because the caller's time limit is over. Then the error has to say which server did not answer. */
const isTimeLimit = (signal: GetTokenOptions['abortSignal']): boolean =>
  signal instanceof AbortSignal && nameOf(signal.reason) === 'TimeoutError'

interface TokenWait {
  readonly endpoints: Endpoints
  /** The requests for a token so far. The last request may still be under way. */
  readonly exchanges: Exchange[]
  /** Aborts when the wait ends, with a token or without. */
  readonly over: AbortController
}

/**
 * The request for a token that is under way. MSAL keeps the HTTP client of the first caller for the whole process, so our one client
 * finds the present caller here.
 */
const waits = new AsyncLocalStorage<TokenWait>()

/** Longest that one request for a token may take, in ms. Then the libraries' retries have a turn. */
const requestTimeoutMs = 10_000

const defaultClient = createDefaultHttpClient()
const limit = createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'fail' })

/**
 * Sends the requests for a token, and remembers how each went. Ends a request that no caller waits for: it would keep the process alive.
 * The identity library has one error for a closed port, an untrusted certificate and an unknown tenant; only the last is final. Below
 * all policies of that library, because the library replaces those of a caller for a managed identity.
 */
const observedClient: HttpClient = {
  async sendRequest(request) {
    const wait = waits.getStore()
    // The host's own credential in the same process.
    if (!wait) return defaultClient.sendRequest(request)
    const exchange: Exchange = { host: new URL(request.url).host }
    wait.exchanges.push(exchange)
    const { signal } = wait.over
    route(request, wait.endpoints)
    try {
      const response = await withLimit({ ms: requestTimeoutMs, signal }, (limited) => {
        request.abortSignal = limited
        return limit.sendRequest(request, (one) => defaultClient.sendRequest(one))
      })
      const { status, bodyAsText, headers } = response
      const retryAfterMs = readRetryAfter((name) => headers.get(name), Date.now())
      Object.assign(exchange, { status, body: status < 400 ? undefined : (bodyAsText ?? undefined), retryAfterMs })
      return response
    } catch (error) {
      const code = error instanceof RestError ? error.code : undefined
      exchange.code = code ?? (error instanceof Error ? error.name : undefined)
      if (!request.abortSignal?.aborted || signal.aborted) throw error
      exchange.code = 'ETIMEDOUT'
      // The code that the libraries' retries know.
      throw new RestError('no answer came in time', { code: 'ETIMEDOUT', request })
    } finally {
      request.abortSignal = signal
    }
  },
}

/** The libraries ignore signals and have no time limit for a token as a whole, so the limit is here. */
async function getInTime(
  credential: TokenCredential,
  scopes: string | string[],
  options: GetTokenOptions,
  timeoutMs: number,
): Promise<AccessToken | null> {
  const token = credential.getToken(scopes, options)
  // The SDK's type allows for signals that are not the platform's; those of the token keeper always are.
  const signal = options.abortSignal instanceof AbortSignal ? options.abortSignal : undefined
  if (await within(systemClock, timeoutMs, token, signal)) return token
  if (signal?.aborted) throw new DOMException('getting a token was aborted', 'AbortError')
  throw new RestError('no token came in time', { code: 'ETIMEDOUT' })
}

/**
 * A credential that asks the identity endpoint for each token. ManagedIdentityCredential of @azure/identity has no way past the cache,
 * which MSAL keeps for the whole process.
 *
 * @param clientId of a user-assigned identity. @default the machine's own identity
 */
export function createManagedIdentity(clientId: string | undefined, httpClient: HttpClient): TokenCredential {
  async function send(method: HttpMethods, url: string, { headers = {}, body }: NetworkRequestOptions = {}) {
    const request = createPipelineRequest({
      url,
      method,
      headers: createHttpHeaders(headers),
      allowInsecureConnection: true,
    })
    if (body !== undefined) request.body = body
    const { status, headers: answered, bodyAsText } = await httpClient.sendRequest(request)
    return { status, headers: answered.toJSON(), body: JSON.parse(bodyAsText ?? '') }
  }
  const application = new ManagedIdentityApplication({
    ...(clientId !== undefined && { managedIdentityIdParams: { userAssignedClientId: clientId } }),
    system: {
      // Whoever asks for a token tries again.
      disableInternalRetries: true,
      networkClient: {
        sendGetRequestAsync: (url, options) => send('GET', url, options),
        sendPostRequestAsync: (url, options) => send('POST', url, options),
      },
    },
  })
  return {
    async getToken(scopes) {
      const { accessToken, expiresOn } = await application.acquireToken({
        resource: [scopes].flat().join(' '),
        forceRefresh: true,
      })
      return expiresOn && { token: accessToken, expiresOnTimestamp: expiresOn.getTime() }
    },
  }
}
