/** Why Entra refuses a token request (Entra: reference-error-codes). */
export interface EntraFailure {
  readonly status: 400 | 401
  /** The OAuth error: `invalid_client`, `invalid_request`, … */
  readonly error: string
  /** The number after AADSTS. */
  readonly code: number
  readonly message: string
}

/** The failures, in Entra's words. */
export const entraFailures = {
  wrongSecret: (clientId: string): EntraFailure => ({
    status: 401,
    error: 'invalid_client',
    code: 7000215,
    message:
      `Invalid client secret provided. Ensure the secret being sent in the request is the client ` +
      `secret value, not the client secret ID, for a secret added to app '${clientId}'.`,
  }),
  missingSecret: (): EntraFailure => ({
    status: 401,
    error: 'invalid_client',
    code: 7000218,
    message: "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  }),
  unknownClient: (clientId: string, tenantId: string): EntraFailure => ({
    status: 400,
    error: 'unauthorized_client',
    code: 700016,
    message:
      `Application with identifier '${clientId}' was not found in the directory '${tenantId}'. ` +
      `This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You may have sent your authentication request to the wrong tenant.`,
  }),
  unknownTenant: (tenantId: string): EntraFailure => ({
    status: 400,
    error: 'invalid_request',
    code: 90002,
    message:
      `Tenant '${tenantId}' not found. Check to make sure you have the correct tenant ID and are ` +
      `signing into the correct cloud. Check with your subscription administrator, this may happen if there are no active subscriptions for the tenant.`,
  }),
  invalidTenant: (tenantId: string): EntraFailure => ({
    status: 400,
    error: 'invalid_request',
    code: 900023,
    message: `Specified tenant identifier '${tenantId}' is neither a valid DNS name, nor a valid external domain.`,
  }),
  missingParameter: (name: string): EntraFailure => ({
    status: 400,
    error: 'invalid_request',
    code: 900144,
    message: `The request body must contain the following parameter: '${name}'.`,
  }),
  unreadable: (): EntraFailure => ({
    status: 400,
    error: 'invalid_request',
    code: 900561,
    message: 'The request is not valid. The body must be a form of no more than 64 KB.',
  }),
  unsupportedGrant: (grant: string): EntraFailure => ({
    status: 400,
    error: 'unsupported_grant_type',
    code: 70003,
    message: `The app requested an unsupported grant type '${grant}'.`,
  }),
  wrongScope: (scope: string): EntraFailure => ({
    status: 400,
    error: 'invalid_scope',
    code: 1002012,
    message:
      `The provided value for scope ${scope} is not valid. Client credential flows must have a ` +
      `scope value with /.default suffixed to the resource identifier (application ID URI).`,
  }),
  unknownResource: (resource: string, tenantId: string): EntraFailure => ({
    status: 400,
    error: 'invalid_resource',
    code: 500011,
    message:
      `The resource principal named ${resource} was not found in the tenant named ${tenantId}. ` +
      `This can happen if the application has not been installed by the administrator of the tenant or consented to by any user in the tenant. You might have sent your authentication request to the wrong tenant.`,
  }),
} as const

/** The body of a refusal, as Entra words it. */
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
