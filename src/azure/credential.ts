// Entra login by metadata: client secret, managed identity, CLI; token cache, 30 s limit.
import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/core-auth'
import { type PipelinePolicy, RestError } from '@azure/core-rest-pipeline'
import {
  AzureCliCredential,
  ClientSecretCredential,
  DefaultAzureCredential,
  ManagedIdentityCredential,
  WorkloadIdentityCredential,
} from '@azure/identity'
import { type Endpoints, strayEmulatorId } from '../core/endpoints.ts'
import { BindingError } from '../core/errors.ts'
import { scrub } from '../core/scrub.ts'
import { type AzureEnvironment, azureEnvironments } from '../metadata/fields/azure-environment.ts'
import type { CredentialMetadata } from '../metadata/typed/metadata.ts'
import { createAnswerLimitPolicy, maxAnswerBytes } from './answer-limit.ts'
import { readRetryAfter } from './retry-after.ts'
import { type Exchange, judgeTokenFailure } from './token-failure.ts'
import { trustPolicies } from './trust.ts'

export interface CredentialOptions {
  readonly environment: AzureEnvironment
  readonly endpoints: Endpoints
  /** The host's own credential, for metadata of kind `host`. */
  readonly hostCredential?: TokenCredential | undefined
  /** Longest that getting a token may take, in ms. @default 30_000 */
  readonly tokenTimeoutMs?: number
}

export interface RenewableCredential extends TokenCredential {
  /** Drops the cached tokens: the next token is a new one. */
  renew(): void
}

/**
 * The credential that metadata describes. Its `getToken` throws BindingError CREDENTIALS_REJECTED where Entra refuses
 * the client, and NoTokenError where Entra could not be asked, so that a caller tries again. The object shows no secret,
 * however it is printed.
 * @throws BindingError METADATA_INVALID when the authority host is not https, or a host's credential is missing;
 * CREDENTIALS_REJECTED when the process lacks what the kind of credential needs.
 */
export function createCredential(metadata: CredentialMetadata, options: CredentialOptions): RenewableCredential {
  const { tokenTimeoutMs = 30_000 } = options
  const { authorityHost: givenHost = options.environment.authorityHost } = options.endpoints
  const authorityHost = givenHost.replace(/(?<!\/)\/+$/, '')
  const secrets = metadata.kind === 'clientSecret' ? [metadata.clientSecret.reveal()] : []
  const context = {
    metadata,
    authorityHost,
    hasEmulatorIds: strayEmulatorId(metadata, options.endpoints) !== undefined,
    show: (text: string) => scrub(text, secrets),
  }
  const create = (wait: TokenWait) => {
    try {
      return connect(metadata, options, authorityHost, createObserver(wait))
    } catch (error) {
      // Some look for what they need as soon as they are made, a workload identity for its variables.
      throw judgeTokenFailure(error, undefined, context)
    }
  }
  // Fails at once where something is missing.
  create(startWait())
  let cache = new Map<string, AccessToken>()

  return {
    renew() {
      // A new map: a request under way still writes into the old one.
      cache = new Map()
    },
    async getToken(scopes, tokenOptions) {
      const key = [scopes, tokenOptions?.tenantId ?? ''].flat().join(' ')
      const tokens = cache
      let token = tokenOptions?.claims ? undefined : tokens.get(key)
      if (!token || !isFresh(token)) {
        tokens.delete(key)
        token = await fetchToken(scopes, tokenOptions)
        tokens.set(key, token)
      }
      // For the SDKs' clients it is good for this request, by its date. They keep a token with a later date themselves, and renew it in the
      // background, where a failure is an unhandled rejection, which ends the process.
      return { ...token, expiresOnTimestamp: 0 }
    },
  }

  async function fetchToken(scopes: string | string[], tokenOptions?: GetTokenOptions): Promise<AccessToken> {
    const wait = startWait()
    try {
      // A new one each time: the libraries cache a token until it expires by our clock, and after a 429 or 5xx they
      // send no request for a minute and throw an error that looks like a refusal of the client.
      const token = await inTime(create(wait), scopes, tokenOptions, tokenTimeoutMs)
      if (!token) throw new Error('the credential gave none')
      return token
    } catch (error) {
      if (tokenOptions?.abortSignal?.aborted) throw error
      throw judgeTokenFailure(error, wait.last, context)
    } finally {
      wait.over.abort()
    }
  }
}

/** A token that expires sooner is renewed. Azure's libraries leave the same time. */
const renewalMs = 2 * 60_000

const isFresh = ({ expiresOnTimestamp }: AccessToken) => expiresOnTimestamp - renewalMs > Date.now()

function connect(
  metadata: CredentialMetadata,
  { endpoints, hostCredential }: CredentialOptions,
  authorityHost: string,
  observer: PipelinePolicy,
): TokenCredential {
  if (metadata.kind === 'host') {
    if (hostCredential) return hostCredential
    throw new BindingError('METADATA_INVALID', {
      what: 'no credential was handed over',
      fix: 'pass one as the option credential, or set azureCredential',
    })
  }
  if (!/^https:\/\//i.test(authorityHost)) {
    throw new BindingError('METADATA_INVALID', {
      what: "Entra's authority host is not https",
      fix: 'give endpoints.authorityHost, or AZURE_AUTHORITY_HOST, as an https URL',
    })
  }
  const common = {
    authorityHost,
    // Discovery asks Microsoft's public cloud whether it knows the host, and it knows none of a private one.
    disableInstanceDiscovery: !Object.values(azureEnvironments).some((known) => known.authorityHost === authorityHost),
    // The caller tries again; retries here would multiply.
    retryOptions: { maxRetries: 0 },
    additionalPolicies: [
      ...trustPolicies(endpoints),
      observer,
      createAnswerLimitPolicy({ maxBytes: maxAnswerBytes, longer: 'fail' }),
    ].map((policy) => ({ policy, position: 'perRetry' as const })),
  }
  const client = 'clientId' in metadata && metadata.clientId ? { clientId: metadata.clientId } : {}
  const tenant = 'tenantId' in metadata && metadata.tenantId ? { tenantId: metadata.tenantId } : {}
  switch (metadata.kind) {
    case 'clientSecret':
      return new ClientSecretCredential(metadata.tenantId, metadata.clientId, metadata.clientSecret.reveal(), common)
    case 'managedIdentity':
      return new ManagedIdentityCredential({ ...common, ...client })
    case 'workloadIdentity':
      return new WorkloadIdentityCredential({ ...common, ...tenant, ...client })
    case 'cli':
      return new AzureCliCredential({ ...tenant })
    case 'default': {
      const { clientId } = metadata
      const clients = clientId && { managedIdentityClientId: clientId, workloadIdentityClientId: clientId }
      return new DefaultAzureCredential({ ...common, ...tenant, ...clients })
    }
  }
}

interface TokenWait {
  last: Exchange | undefined
  /** Aborts when the wait ends, with a token or without. */
  readonly over: AbortController
}

const startWait = (): TokenWait => ({ last: undefined, over: new AbortController() })

/**
 * Records the last exchange with Entra, and ends requests that no caller waits for, which would keep the process alive. The
 * identity library has one error for a closed port, an untrusted certificate and an unknown tenant; only the last is final.
 */
function createObserver(wait: TokenWait): PipelinePolicy {
  return {
    name: 'eventgrid-binding-token-exchange',
    async sendRequest(request, next) {
      request.abortSignal = wait.over.signal
      try {
        const response = await next(request)
        const { status, bodyAsText, headers } = response
        const retryAfterMs = readRetryAfter((name) => headers.get(name), Date.now())
        wait.last = { status, body: status < 400 ? undefined : (bodyAsText ?? undefined), retryAfterMs }
        return response
      } catch (error) {
        const code = error instanceof RestError ? error.code : undefined
        wait.last = { code: code ?? (error instanceof Error ? error.name : undefined) }
        throw error
      }
    },
  }
}

/** The libraries ignore signals and have no time limit for a token as a whole, so the limit is here. */
async function inTime(
  credential: TokenCredential,
  scopes: string | string[],
  options: GetTokenOptions | undefined,
  timeoutMs: number,
): Promise<AccessToken | null> {
  const { promise: over, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new RestError('no token came in time', { code: 'ETIMEDOUT' })), timeoutMs)
  const signal = options?.abortSignal
  const abort = () => reject(new DOMException('getting a token was aborted', 'AbortError'))
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([credential.getToken(scopes, options), over])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
