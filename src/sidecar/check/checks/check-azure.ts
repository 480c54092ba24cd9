/** The checks of Azure but for the event subscription: tokens of Entra, the provider, the scope, and the rights of the client. */
import type { TokenCredential } from '@azure/core-auth'
import { ArmFailureError } from '../../../azure/read-failure.ts'
import { NoTokenError } from '../../../azure/refusals/entra-refusal.ts'
import { BindingError } from '../../../core/errors.ts'
import { eventGridApiVersion, resourceApiVersions } from '../../../core/versions.ts'
import { readList } from '../../../provision/arm.ts'
import { isRecord } from '../../../support/text/json-text.ts'
import { oneLine } from '../../../support/text/text.ts'
import type { AzureResource } from '../context/azure-resource.ts'
import {
  armFinding,
  type Finding,
  failed,
  failedBy,
  isForbidden,
  joined,
  ok,
  readFinding,
  warning,
} from '../finding.ts'

export interface WantedToken {
  readonly audience: string
  readonly scope: string
  /** Throws where the process lacks what the credential needs. */
  credential(): TokenCredential | undefined
}

export async function askForTokens(wanted: readonly WantedToken[], abortSignal: AbortSignal): Promise<Finding> {
  return joined(await Promise.all(wanted.map((one) => askForToken(one, abortSignal))))
}

async function askForToken({ audience, scope, credential }: WantedToken, abortSignal: AbortSignal): Promise<Finding> {
  try {
    await credential()?.getToken(scope, { abortSignal })
    return ok(`a token for ${audience}`)
  } catch (error) {
    if (error instanceof BindingError) return failedBy(error)
    if (!(error instanceof NoTokenError)) throw error
    const remedy = error.fix ?? 'check the network, a proxy (HTTPS_PROXY) and azureEnvironment'
    return failed(error.message, { remedy })
  }
}

const showProvider = 'az provider show --namespace Microsoft.EventGrid --query registrationState'

/**
 * @param resource where the event subscription is kept that Azure refuses without the provider
 * @param options.byEmulator an emulator answers in the place of Azure: what may not be read there says nothing of Azure
 */
export async function checkProvider(
  resource: AzureResource,
  { byEmulator }: { readonly byEmulator: boolean },
  signal: AbortSignal,
): Promise<Finding> {
  const path = `/subscriptions/${resource.scope.subscriptionId}/providers/Microsoft.EventGrid`
  let answer: unknown
  try {
    answer = await resource.readArm(path, resourceApiVersions.resources, signal)
  } catch (error) {
    if (byEmulator && isForbidden(error)) return ok('not judged on the emulator: this client may not read it')
    const remedy = `give the client the role Reader on the subscription, or look as somebody who may:\n${showProvider}`
    return readFinding(error, resource.explainedBy(), 'the registration of Microsoft.EventGrid', remedy)
  }
  const state = isRecord(answer) ? answer.registrationState : undefined
  if (state === 'Registered') return ok('Microsoft.EventGrid is registered')
  if (typeof state !== 'string')
    return warning('ARM tells no registrationState; a proxy may have answered in its place')
  const message = `registrationState is ${oneLine(state, 40)}`
  if (state === 'Registering') {
    return warning(`Microsoft.EventGrid is being registered: ${message}`, { remedy: showProvider })
  }
  const code = 'MissingSubscriptionRegistration'
  return armFinding(new ArmFailureError({ kind: 'unregistered', status: 409, code, message }), resource.explainedBy())
}

export async function checkScope(resource: AzureResource, signal: AbortSignal): Promise<Finding> {
  const { scope } = resource
  let asked = 'provider' in scope ? `the types of ${scope.provider}` : scope.id
  try {
    const apiVersion = await apiVersionOf(resource, signal)
    if (apiVersion === undefined)
      return warning(`whether ${scope.id} exists is not known: ARM names no version of its type`)
    asked = scope.id
    const answer = await resource.readArm(scope.id, apiVersion, signal)
    if (isRecord(answer) && typeof answer.id === 'string') return ok(`${scope.id} exists`)
    return failed(`the answer for ${scope.id} is not a resource; a proxy may have answered in the place of ARM`, {
      remedy: 'check the network and a proxy (HTTPS_PROXY), then run it again',
    })
  } catch (error) {
    return readFinding(error, resource.explainedBy(), asked)
  }
}

/** The API version for a resource. Each type has its own; the provider lists them. */
async function apiVersionOf({ scope, readArm }: AzureResource, signal: AbortSignal): Promise<string | undefined> {
  if (scope.kind === 'subscription') return resourceApiVersions.subscriptions
  if (scope.kind === 'resourceGroup') return resourceApiVersions.resources
  if (scope.provider.toLowerCase() === 'microsoft.eventgrid') return eventGridApiVersion
  const path = `/subscriptions/${scope.subscriptionId}/providers/${scope.provider}`
  const provider = await readArm(path, resourceApiVersions.resources, signal)
  const types = isRecord(provider) && Array.isArray(provider.resourceTypes) ? provider.resourceTypes : []
  const wanted = scope.path.map(({ type }) => type.toLowerCase()).join('/')
  const found: unknown = types.find((type) => isRecord(type) && String(type.resourceType).toLowerCase() === wanted)
  const versions = isRecord(found) && Array.isArray(found.apiVersions) ? found.apiVersions : []
  return versions
    .filter((version) => typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version))
    .sort()
    .at(-1)
}

export async function checkRoles(resource: AzureResource, signal: AbortSignal): Promise<Finding> {
  const { scope, actions } = resource
  try {
    const path = `${scope.id}/providers/Microsoft.Authorization/permissions`
    const get = (page: string) => resource.readArm(page, resourceApiVersions.permissions, signal)
    const permissions = readPermissions(await readList(get, path, 'permissions'))
    const lacking = actions.filter((action) => !isAllowed(permissions, action))
    if (lacking.length === 0)
      return ok(`the client may ${resource.writes ? 'read and write' : 'read'} event subscriptions at ${scope.id}`)
    const message = `its roles do not allow ${lacking.join(', ')}`
    const code = 'AuthorizationFailed'
    return lackingFinding(resource, new ArmFailureError({ kind: 'forbidden', status: 403, code, message }))
  } catch (error) {
    return isForbidden(error) ? tryIt(resource) : readFinding(error, resource.explainedBy(), 'the list of permissions')
  }
}

/** Without the list, reading the event subscription shows at least part of the answer. */
async function tryIt(resource: AzureResource): Promise<Finding> {
  try {
    await resource.existing()
    const rest = 'the event subscription may, whether it may be written is not known'
    return warning(`the list of permissions may not be read; ${rest}`)
  } catch (error) {
    return isForbidden(error) ? lackingFinding(resource, error) : armFinding(error, resource.explainedBy())
  }
}

function lackingFinding({ receivesWithoutRights, explainedBy }: AzureResource, error: unknown): Finding {
  const finding = armFinding(error, explainedBy())
  if (!receivesWithoutRights) return finding
  return warning(`${finding.detail}; events are received if the event subscription exists`, { remedy: finding.remedy })
}

/** What each role allows at a scope (Azure RBAC: Microsoft.Authorization/permissions). Invalid entries are left out. */
export const readPermissions = (list: readonly unknown[]) =>
  list.filter(isRecord).map((one) => ({ actions: texts(one.actions), notActions: texts(one.notActions) }))

/** Whether a role allows an action. `*` matches any text; letter case does not matter. */
export function isAllowed(permissions: ReturnType<typeof readPermissions>, action: string): boolean {
  const isIn = (patterns: readonly string[]) => patterns.some((pattern) => matches(pattern, action))
  return permissions.some(({ actions, notActions }) => isIn(actions) && !isIn(notActions))
}

/** Compares the parts between the stars from left to right, in linear time. */
function matches(pattern: string, action: string): boolean {
  const [head = '', ...rest] = pattern.toLowerCase().split('*')
  const text = action.toLowerCase()
  const tail = rest.pop()
  if (tail === undefined) return text === head
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) return false
  let at = head.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1 || found + part.length > text.length - tail.length) return false
    at = found + part.length
  }
  return true
}

const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
