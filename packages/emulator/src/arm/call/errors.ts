/** In which words, and with which code and status, Resource Manager refuses a call. */
import { roleThatAllows } from '../../entra/roles.ts'
import { advice, withAdvice } from '../../model/wording.ts'
import { ServiceError } from '../../server/service.ts'
import { refusals } from '../../server/unreadable-request.ts'

export interface ArmErrorDetail {
  readonly code: string
  readonly target?: string
  readonly message: string
}

export class ArmError extends ServiceError {
  override readonly name = 'ArmError'
  readonly details: readonly ArmErrorDetail[] | undefined
  readonly headers: Readonly<Record<string, string>>
  /** Where the settings of an event subscription are wrong, as far as that is known. Not a part of the answer. */
  readonly at: readonly (string | number)[] | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    more: {
      readonly details?: readonly ArmErrorDetail[]
      readonly headers?: Readonly<Record<string, string>>
      readonly at?: readonly (string | number)[]
    } = {},
  ) {
    super(status, code, message)
    this.details = more.details
    this.headers = more.headers ?? {}
    this.at = more.at
  }

  /** The answer's body. */
  get body() {
    const { code, message, details } = this
    return { error: { code, message, ...(details && { details }) } }
  }
}

const failureOf = (status: number) => (code: string, message: string) => new ArmError(status, code, message)
const badRequest = failureOf(400)
const unauthorized = failureOf(401)
const notFound = failureOf(404)
const conflict = failureOf(409)

/** Azure's wording of common errors (Azure Resource Manager: common errors; Event Grid: troubleshoot-errors). */
export const armErrors = {
  invalidRequest: (message: string) => badRequest('InvalidRequest', message),
  invalidEventSubscription: (reason: string, at?: readonly (string | number)[]) =>
    new ArmError(400, 'InvalidRequest', `Invalid event subscription request: ${reason}`, at && { at }),
  /** @param rule what is wrong with the property, beginning with a verb */
  invalidProperty: (at: readonly (string | number)[], rule: string): ArmError => {
    const end = rule.endsWith('?') ? '' : '.'
    return armErrors.invalidEventSubscription(`property '${at.join('.')}' is invalid. It ${rule}${end}`, at)
  },
  invalidContent: (message: string) =>
    badRequest('InvalidRequestContent', `The request content was invalid and could not be deserialized: '${message}'.`),
  missingApiVersion: () =>
    badRequest(
      'MissingApiVersionParameter',
      'The api-version query parameter (?api-version=) is required for all requests.',
    ),
  invalidApiVersion: (version: string) =>
    badRequest(
      'InvalidApiVersionParameter',
      `The api-version '${version.slice(0, 100)}' is invalid. The supported versions are ` +
        `'2025-04-01,2024-11-01,2022-12-01,2021-04-01,2020-01-01'.`,
    ),
  unsupportedApiVersion: (type: string, version: string, supported: readonly string[]) =>
    badRequest(
      'NoRegisteredProviderFound',
      `No registered resource provider found for location 'global' and API version ` +
        `'${version.slice(0, 100)}' for type '${type}'. The supported api-versions are '${supported.join(', ')}'.`,
    ),
  missingToken: () =>
    unauthorized('AuthenticationFailed', "Authentication failed. The 'Authorization' header is missing."),
  wrongScheme: () =>
    unauthorized(
      'AuthenticationFailedInvalidHeader',
      "Authentication failed. The 'Authorization' header is provided in an invalid format.",
    ),
  invalidToken: () => unauthorized('InvalidAuthenticationToken', 'The access token is invalid.'),
  expiredToken: (message: string) => unauthorized('ExpiredAuthenticationToken', message),
  wrongAudience: (audience: string) =>
    unauthorized(
      'InvalidAuthenticationTokenAudience',
      `The access token has been obtained for wrong audience or resource '${audience}'. It should exactly ` +
        "match with one of the allowed audiences 'https://management.core.windows.net/'," +
        "'https://management.core.windows.net','https://management.azure.com/','https://management.azure.com'.",
    ),
  wrongTenant: (issuer: string, tenantId: string) =>
    unauthorized(
      'InvalidAuthenticationTokenTenant',
      `The access token is from the wrong issuer '${issuer}'. It must match the tenant ` +
        `'https://sts.windows.net/${tenantId}/' associated with this subscription. Please use the ` +
        `authority (URL) 'https://login.windows.net/${tenantId}' to get the token. Note, if the ` +
        'subscription is transferred to another tenant there is no impact to the services, but ' +
        'information about new tenant could take time to propagate (up to an hour). If you just ' +
        'transferred your subscription and see this error message, please try back later.',
    ),
  forbidden: (clientId: string, objectId: string, action: string, scope: string) =>
    new ArmError(
      403,
      'AuthorizationFailed',
      withAdvice(
        `The client '${clientId}' with object id '${objectId}' does not have authorization to perform ` +
          `action '${action}' over scope '${scope}' or the scope is invalid. If access was recently ` +
          'granted, please refresh your credentials.',
        advice.role(roleThatAllows({ action }), clientId),
      ),
    ),
  /** @param id the resource that would have the identity */
  linkedSubscriptionNotFound: (id: string, subscriptionId: string) =>
    new ArmError(
      403,
      'LinkedAuthorizationFailed',
      "The client has permission to perform action 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action' on scope " +
        `'${id}', however the linked subscription '${subscriptionId}' was not found. `,
    ),
  subscriptionNotFound: (id: string) =>
    notFound('SubscriptionNotFound', withAdvice(`The subscription '${id}' could not be found.`, advice.scope)),
  invalidSubscriptionId: (id: string) =>
    badRequest('InvalidSubscriptionId', `The provided subscription identifier '${id}' is malformed or invalid.`),
  resourceGroupNotFound: (name: string) =>
    notFound('ResourceGroupNotFound', withAdvice(`Resource group '${name}' could not be found.`, advice.scope)),
  resourceNotFound: (type: string, name: string, group: string) =>
    notFound(
      'ResourceNotFound',
      withAdvice(
        `The Resource '${type}/${name}' under resource group '${group}' was not found. For more details ` +
          `please go to https://aka.ms/ARMResourceNotFoundFix`,
        advice.scope,
      ),
    ),
  /** For what is a part of a resource that does not exist. @param id the id of that resource */
  parentNotFound: (type: string, id: string) =>
    notFound(
      'ParentResourceNotFound',
      withAdvice(
        `Failed to perform the operation on resource(s) of type '${type}', because the parent resource '${id}' could not be found.`,
        advice.scope,
      ),
    ),
  topicTypeNotFound: (name: string) =>
    notFound('ResourceNotFound', `The topic type '${name.slice(0, 100)}' could not be found.`),
  roleAssignmentNotFound: (name: string) =>
    notFound('RoleAssignmentNotFound', `The role assignment '${name}' is not found.`),
  roleDefinitionNotFound: (id: string) =>
    notFound('RoleDefinitionDoesNotExist', `The specified role definition with ID '${id}' does not exist.`),
  roleAssignmentFixed: () =>
    new ArmError(
      400,
      'RoleAssignmentUpdateNotPermitted',
      'Tenant ID, application ID, principal ID, and scope are not allowed to be updated.',
    ),
  roleAssignmentExists: () => conflict('RoleAssignmentExists', 'The role assignment already exists.'),
  operationNotFound: (id: string) => notFound('NotFound', `The operation '${id}' could not be found.`),
  eventSubscriptionNotFound: () => notFound('ResourceNotFound', "Event subscription doesn't exist."),
  /** @param what what it does not support: a type, or a setting */
  notSupported: (what: string, at?: readonly (string | number)[]) =>
    new ArmError(400, 'NotSupportedByEmulator', `The emulator does not support ${what}.`, at && { at }),
  pathNotFound: (method: string, path: string) =>
    notFound(
      'InvalidResourceType',
      `The resource type could not be found for the request '${method} ${path.slice(0, 500)}'.`,
    ),
  methodNotAllowed: (method: string, allowed: string) =>
    new ArmError(405, 'MethodNotAllowed', `The requested resource does not support http method '${method}'.`, {
      headers: { allow: allowed },
    }),
  notRegistered: (state: string, subscriptionId: string) => {
    const message = withAdvice(
      `The subscription registration is in '${state}' state. The subscription must be registered to ` +
        "use namespace 'Microsoft.EventGrid'. See https://aka.ms/rps-not-found for how to register subscriptions.",
      advice.provider(subscriptionId),
    )
    const details = [{ code: 'MissingSubscriptionRegistration', target: 'Microsoft.EventGrid', message }]
    return new ArmError(409, 'MissingSubscriptionRegistration', message, { details })
  },
  locationFixed: (name: string, location: string, group: string, wanted: string) =>
    conflict(
      'InvalidResourceLocation',
      `The resource '${name}' already exists in location '${location}' in resource group '${group}'. ` +
        `A resource with the same name cannot be created in location '${wanted.slice(0, 100)}'. ` +
        'Please select a new resource name.',
    ),
  groupLocationFixed: (location: string, wanted: string) =>
    conflict(
      'InvalidResourceGroupLocation',
      `Invalid resource group location '${wanted.slice(0, 100)}'. The Resource group already exists in location '${location}'.`,
    ),
  quotaReached: () => conflict('QuotaExceeded', 'Quota limit reached.'),
  conflict: (message: string) => conflict('Conflict', message),
  throttled: (subscriptionId: string, principalId: string, kind: string, seconds: number) =>
    new ArmError(
      429,
      'SubscriptionRequestsThrottled',
      `Number of '${kind}' requests for subscription '${subscriptionId}' actor '${principalId}' exceeded. ` +
        `Please try again after '${seconds}' seconds after additional tokens are available.`,
      { headers: { 'retry-after': String(seconds) } },
    ),
  tooLarge: () =>
    new ArmError(413, 'RequestEntityTooLarge', 'The request content size exceeds the maximum size of 4 MB.'),
  internal: () => new ArmError(500, refusals.internal.code, refusals.internal.message),
} as const

const usualCodes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'InvalidAuthenticationToken',
  403: 'AuthorizationFailed',
  404: 'ResourceNotFound',
  408: 'RequestTimeout',
  409: 'Conflict',
  412: 'PreconditionFailed',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  502: 'BadGateway',
  503: 'ServiceUnavailable',
  504: 'GatewayTimeout',
}

/** The usual error code of a status, for injected faults. */
export const usualArmCode = (status: number): string => usualCodes[status] ?? 'UnknownError'
