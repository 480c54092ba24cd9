/** In which words, and with which AADSTS number, Entra refuses a request. */
import { advice, withAdvice } from '../model/wording.ts'
import { ServiceError } from '../server/service.ts'

/** A refusal of Entra (Entra: reference-error-codes). */
export class EntraError extends ServiceError {
  /** The OAuth error: `invalid_client`, `invalid_request`, … */
  readonly error: string
  /** The number after AADSTS. */
  readonly number: number

  constructor(status: number, error: string, number: number, message: string) {
    super(status, `AADSTS${number}`, message)
    this.error = error
    this.number = number
  }
}

const errorOf =
  (error: string, status = 400) =>
  (number: number, message: string) =>
    new EntraError(status, error, number, message)

const invalidClient = errorOf('invalid_client', 401)
const invalidRequest = errorOf('invalid_request')

const notInstalled =
  'This can happen if the application has not been installed by the administrator of the tenant or consented to by any ' +
  'user in the tenant.'

export const entraErrors = {
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
  unsupportedAssertion: (type: string) =>
    invalidRequest(50027, `The client assertion type '${type}' is not supported.`),
  invalidAssertion: () =>
    invalidClient(700027, withAdvice('Client assertion failed signature validation.', advice.assertion)),
  expiredAssertion: () =>
    invalidClient(700024, withAdvice('Client assertion is not within its valid time range.', advice.assertion)),
  foreignAssertion: (subject: string) =>
    invalidClient(
      700213,
      withAdvice(
        `No matching federated identity record found for presented assertion subject '${subject}'. Please check your federated ` +
          'identity credential Subject, Audience and Issuer against the presented assertion.',
        advice.assertion,
      ),
    ),
  unknownClient: (clientId: string, tenantId: string) =>
    errorOf('unauthorized_client')(
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
    errorOf('invalid_tenant')(
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
  internal: () => errorOf('server_error', 500)(90033, 'A transient error has occurred. Please try again.'),
  unsupportedGrant: (grant: string) =>
    errorOf('unsupported_grant_type')(70003, `The app requested an unsupported grant type '${grant}'.`),
  wrongScope: (scope: string) =>
    errorOf('invalid_scope')(
      1002012,
      `The provided value for scope ${scope} is not valid. Client credential flows must have a scope value with /.default ` +
        'suffixed to the resource identifier (application ID URI).',
    ),
  unknownResource: (resource: string, tenantId: string) =>
    errorOf('invalid_resource')(
      500011,
      `The resource principal named ${resource} was not found in the tenant named ${tenantId}. ${notInstalled} ` +
        'You might have sent your authentication request to the wrong tenant.',
    ),
} as const

/** A fault that a test injected. */
export const injectedError = (status: number, error = 'temporarily_unavailable', message = 'The request failed.') =>
  new EntraError(status, error, 90033, message)

/** The body of a refusal. */
export function entraErrorBody(refusal: EntraError, ids: { traceId: string; correlationId: string }, now: Date) {
  const timestamp = `${now.toISOString().slice(0, 19).replace('T', ' ')}Z`
  return {
    error: refusal.error,
    error_description:
      `${refusal.code}: ${refusal.message} Trace ID: ${ids.traceId} Correlation ` +
      `ID: ${ids.correlationId} Timestamp: ${timestamp}`,
    error_codes: [refusal.number],
    timestamp,
    trace_id: ids.traceId,
    correlation_id: ids.correlationId,
  }
}
