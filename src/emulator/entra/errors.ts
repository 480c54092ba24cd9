// Entra's error texts and AADSTS numbers: wrong secret, unknown tenant, wrong scope.
import { advice, withAdvice } from '../model/advice.ts'

/** Why Entra refuses a token request (Entra: reference-error-codes). */
export interface EntraFailure {
  readonly status: 400 | 401 | 500
  /** The OAuth error: `invalid_client`, `invalid_request`, … */
  readonly error: string
  /** The number after AADSTS. */
  readonly code: number
  readonly message: string
}

const failureOf =
  (error: string, status: EntraFailure['status'] = 400) =>
  (code: number, message: string): EntraFailure => ({ status, error, code, message })

const invalidClient = failureOf('invalid_client', 401)
const invalidRequest = failureOf('invalid_request')

const notInstalled =
  'This can happen if the application has not been installed by the administrator of the tenant or consented to by any ' +
  'user in the tenant.'

export const entraFailures = {
  wrongSecret: (clientId: string) =>
    invalidClient(
      7000215,
      withAdvice(
        'Invalid client secret provided. Ensure the secret being sent in the request is the client secret value, not the ' +
          `client secret ID, for a secret added to app '${clientId}'.`,
        advice.client,
      ),
    ),
  missingSecret: () =>
    invalidClient(
      7000218,
      "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
    ),
  unknownClient: (clientId: string, tenantId: string) =>
    failureOf('unauthorized_client')(
      700016,
      withAdvice(
        `Application with identifier '${clientId}' was not found in the directory '${tenantId}'. ${notInstalled} ` +
          'You may have sent your authentication request to the wrong tenant.',
        advice.client,
      ),
    ),
  unknownTenant: (tenantId: string) =>
    invalidRequest(
      90002,
      withAdvice(
        `Tenant '${tenantId}' not found. Check to make sure you have the correct tenant ID and are signing into the correct ` +
          'cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.',
        advice.client,
      ),
    ),
  /** The same for the discovery documents. */
  unknownDiscoveryTenant: (tenantId: string) =>
    failureOf('invalid_tenant')(
      90002,
      `Tenant '${tenantId}' not found. Check to make sure you have the correct tenant ID and are signing into the correct cloud.`,
    ),
  invalidTenant: (tenantId: string) =>
    invalidRequest(
      900023,
      `Specified tenant identifier '${tenantId}' is neither a valid DNS name, nor a valid external domain.`,
    ),
  missingParameter: (name: string) =>
    invalidRequest(900144, `The request body must contain the following parameter: '${name}'.`),
  unreadable: () => invalidRequest(900561, 'The request is not valid. The body must be a form of no more than 64 KB.'),
  internal: () => failureOf('server_error', 500)(90033, 'A transient error has occurred. Please try again.'),
  unsupportedGrant: (grant: string) =>
    failureOf('unsupported_grant_type')(70003, `The app requested an unsupported grant type '${grant}'.`),
  wrongScope: (scope: string) =>
    failureOf('invalid_scope')(
      1002012,
      `The provided value for scope ${scope} is not valid. Client credential flows must have a scope value with /.default ` +
        'suffixed to the resource identifier (application ID URI).',
    ),
  unknownResource: (resource: string, tenantId: string) =>
    failureOf('invalid_resource')(
      500011,
      `The resource principal named ${resource} was not found in the tenant named ${tenantId}. ${notInstalled} ` +
        'You might have sent your authentication request to the wrong tenant.',
    ),
} as const

export function entraErrorBody(failure: EntraFailure, ids: { traceId: string; correlationId: string }, now: Date) {
  const timestamp = `${now.toISOString().slice(0, 19).replace('T', ' ')}Z`
  return {
    error: failure.error,
    error_description:
      `AADSTS${failure.code}: ${failure.message} Trace ID: ${ids.traceId} Correlation ` +
      `ID: ${ids.correlationId} Timestamp: ${timestamp}`,
    error_codes: [failure.code],
    timestamp,
    trace_id: ids.traceId,
    correlation_id: ids.correlationId,
  }
}
