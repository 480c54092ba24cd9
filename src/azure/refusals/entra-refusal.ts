/** What it means where Entra or an identity endpoint gives no token, and what to do about it. */
import { isRestError } from '@azure/core-rest-pipeline'
import { BindingError } from '../../core/errors.ts'
import type { CredentialMetadata } from '../../metadata/typed/metadata.ts'
import { isRecord, readJson } from '../../support/text/json-text.ts'
import { shellWord } from '../../support/text/text.ts'
import { certificateRemedy, silenceRemedy } from './remedies.ts'

/** Entra, or another source of tokens, was out of reach or failed. The client's credential may be fine. */
export class NoTokenError extends Error {
  override readonly name = 'NoTokenError'
  /** The remedy, where a retry does not help. */
  readonly fix: string | undefined
  /** The pause that the answer asks for, in ms. */
  readonly retryAfterMs: number | undefined

  constructor(what: string, { fix, retryAfterMs }: Pick<NoTokenError, 'fix' | 'retryAfterMs'>) {
    super(what)
    this.fix = fix
    this.retryAfterMs = retryAfterMs
  }
}

/** How a request for a token went. */
export interface Exchange {
  /** The host that was asked. */
  readonly host: string
  /** Status of the answer. Absent where there was no answer. */
  status?: number
  /** The body of an error. */
  body?: string | undefined
  retryAfterMs?: number | undefined
  /** Why there was no answer. Absent while the request is under way. */
  code?: string | undefined
}

export interface TokenFailureContext {
  readonly metadata: CredentialMetadata
  readonly authorityHost: string
  readonly show: (text: string) => string
}

/** Entra's own codes for a fault of its own (Microsoft identity platform: error codes). */
const passingCodes = new Set(['AADSTS90033', 'AADSTS90055', 'AADSTS90006', 'AADSTS50196', 'AADSTS90012'])

/**
 * Why no token came, by the error and by how the requests went: refused for good (a BindingError), or nobody could say
 * (a NoTokenError).
 */
export function tokenFailure(
  error: unknown,
  exchanges: readonly Exchange[],
  context: TokenFailureContext,
): BindingError | NoTokenError {
  if (error instanceof BindingError) return error
  const exchange = tellingExchange(exchanges, context.metadata.kind)
  const { metadata, authorityHost, show } = context
  const message = error instanceof Error ? error.message : 'an unknown error'
  const said = exchange?.body?.slice(0, 10_000) || message
  const aadsts = /\bAADSTS\d{3,9}\b/.exec(said)?.[0]

  if (isUnavailable(error, exchange, aadsts, metadata.kind)) {
    const why =
      exchange?.status === undefined
        ? (exchange?.code ?? (isRestError(error) ? error.code : aadsts) ?? 'no answer')
        : `it answered ${exchange.status}${aadsts ? `, ${aadsts}` : ''}`
    const from = metadata.kind === 'host' ? "the host's credential" : whereFrom(exchange, authorityHost)
    // Part of the message, not of `fix`: an error with a `fix` is not tried again.
    const silent = silenceRemedy(why, authorityHost)
    const nowhere =
      metadata.kind === 'managedIdentity' && exchange?.status === undefined ? remedy(metadata, aadsts) : undefined
    const advice = [silent, nowhere].map((text) => (text === undefined ? '' : `; ${text}`)).join('')
    return new NoTokenError(`no token from ${from}: ${show(why)}${advice}`, {
      fix: certificateRemedy(why, authorityHost),
      retryAfterMs: exchange?.retryAfterMs,
    })
  }

  const description = describeBody(said) ?? message
  return new BindingError('CREDENTIALS_REJECTED', {
    what: `no token for ${subject(metadata)}: ${show(description)}`,
    fix: remedy(metadata, aadsts),
    details: {
      ...(aadsts && { entraCode: aadsts }),
      ...(exchange?.status !== undefined && { status: exchange.status }),
    },
  })
}

/** The request that says why there is no token. */
function tellingExchange(exchanges: readonly Exchange[], kind: CredentialMetadata['kind']): Exchange | undefined {
  if (kind !== 'default') return exchanges.at(-1)
  // DefaultAzureCredential tries many sources, and most of them do not exist on this machine. The source that could have given a token
  // has a request that timed out or broke off, or an answer that says: busy, or still starting.
  return exchanges.findLast(({ status, code }) =>
    status === undefined
      ? code === undefined || code === 'ECONNRESET' || code === 'ETIMEDOUT'
      : isTrouble(status) || isStarting(status),
  )
}

/** The identity endpoint of a machine answers so while it starts. */
const isStarting = (status: number) => status === 404 || status === 410

const isTrouble = (status: number) => status === 408 || status === 429 || status >= 500

function whereFrom(exchange: Exchange | undefined, authorityHost: string): string {
  return exchange === undefined || new URL(authorityHost).host === exchange.host ? authorityHost : exchange.host
}

function isUnavailable(
  error: unknown,
  exchange: Exchange | undefined,
  aadsts: string | undefined,
  kind: CredentialMetadata['kind'],
): boolean {
  if (aadsts !== undefined && passingCodes.has(aadsts)) return true
  // We do not see the requests of the host's own credential. MSAL's code `network_error` is the only sign of a failed connection.
  if (exchange === undefined && error instanceof Error && /\bnetwork_error\b/.test(error.message)) return true
  if (exchange === undefined) return isRestError(error) && (error.statusCode === undefined || error.statusCode >= 500)
  if (exchange.status === undefined) return true
  if ((kind === 'managedIdentity' || kind === 'default') && isStarting(exchange.status)) return true
  // An answer of 200 without a token comes from something between us and Entra.
  return exchange.status < 400 || isTrouble(exchange.status)
}

function describeBody(body: string): string | undefined {
  const answer = readJson(body)
  const description = isRecord(answer) ? answer.error_description : undefined
  // What follows are trace ids and the time.
  return typeof description === 'string' ? description.split(/\r?\n|Trace ID:/, 1)[0]?.trimEnd() : undefined
}

function subject(metadata: CredentialMetadata): string {
  const client = 'clientId' in metadata && metadata.clientId ? `client ${metadata.clientId}` : undefined
  const tenant = 'tenantId' in metadata && metadata.tenantId ? `tenant ${metadata.tenantId}` : undefined
  const named = [client, tenant].filter((part) => part !== undefined).join(' of ')
  return named === '' ? `azureCredential ${metadata.kind}` : named
}

/** Without `--append`, az deletes all other secrets of the client. */
const addSecret = (clientId: string) =>
  `az ad app credential reset --id ${shellWord(clientId)} --append --query password --output tsv`

function remedy(metadata: CredentialMetadata, aadsts: string | undefined): string {
  switch (metadata.kind) {
    case 'clientSecret':
      if (aadsts === 'AADSTS7000215') {
        return `clientSecret is wrong: use the secret's value, not its id, or make one with: ${addSecret(metadata.clientId)}`
      }
      if (aadsts === 'AADSTS7000222') {
        return `clientSecret has expired: make one with: ${addSecret(metadata.clientId)}`
      }
      if (aadsts === 'AADSTS700016') return 'there is no such client in the tenant: check clientId and tenantId'
      if (aadsts === 'AADSTS90002' || aadsts === 'AADSTS900023')
        return 'there is no such tenant: check tenantId and azureEnvironment'
      return 'check tenantId, clientId, clientSecret and azureEnvironment'
    case 'managedIdentity':
      return 'run where Azure gives an identity, assign it there, and check clientId if it is a user-assigned one'
    case 'workloadIdentity':
      return 'check that the pod uses workload identity, and the federated credential of the client'
    case 'cli':
      return `sign in with: az login${metadata.tenantId ? ` --tenant ${metadata.tenantId}` : ''}`
    case 'default':
      return 'give the process one of the identities that DefaultAzureCredential looks for, or set azureCredential'
    case 'host':
      return 'check the credential that the host handed over as the option credential'
  }
}
