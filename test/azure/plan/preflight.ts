/** Whether a run can begin: account, resource group, rights and providers are looked at before anything is made. */
import { readList } from '../../../src/provision/arm.ts'
import { isAllowed, readPermissions } from '../../../src/sidecar/check/checks/check-azure.ts'
import { UsageError } from '../../../src/support/command-line/options.ts'
import { messageOf } from '../../../src/support/process/error-code.ts'
import { isRecord } from '../../../src/support/text/json-text.ts'
import { type Arm, apiVersions, errorOf } from '../wire/arm.ts'
import type { Target } from '../wire/target.ts'
import { type LeftGroup, leftGroupOf, type Names, nameOf, type Place } from './names.ts'

/** What the account needs where all is made. */
const actions = [
  'Microsoft.EventGrid/topics/write',
  'Microsoft.EventGrid/domains/write',
  'Microsoft.EventGrid/namespaces/write',
  'Microsoft.EventGrid/eventSubscriptions/write',
  'Microsoft.Storage/storageAccounts/write',
] as const
const groupAction = 'Microsoft.Resources/subscriptions/resourceGroups/write'
const rolesAction = 'Microsoft.Authorization/roleAssignments/write'

export interface Preflight {
  /** Whether the account may give the namespace a role at the storage account. */
  readonly mayAssignRoles: boolean
}

/** Asks all of it. Throws a UsageError that says what to do, where a run would not get far. */
export async function lookAhead(
  { arm, target }: { readonly arm: Arm; readonly target: Target },
  { subscriptionId, resourceGroup }: Pick<Place, 'subscriptionId' | 'resourceGroup'>,
  { group }: Names,
): Promise<Preflight> {
  const found = await arm.send('GET', group)
  let at = group
  if (resourceGroup === undefined) {
    at = `/subscriptions/${subscriptionId}`
    if (found.status !== 404)
      throw refused(`the resource group ${group} should not be there`, found.status, errorOf(found.body))
  } else {
    if (found.status !== 200)
      throw refused(`the resource group ${group} can't be read`, found.status, errorOf(found.body))
    await requireEmpty(arm, group)
  }
  const granted = await permissionsAt(arm, at)
  if (granted && resourceGroup === undefined && !isAllowed(granted, groupAction)) {
    throw new UsageError(
      `the account's roles at ${at} do not allow ${groupAction}: the role Contributor there does; or name an empty group by --resource-group`,
    )
  }
  const lacking = granted && actions.filter((action) => !isAllowed(granted, action))
  if (lacking && lacking.length > 0)
    throw new UsageError(`the account's roles at ${at} do not allow ${lacking.join(', ')}: the role Contributor does`)
  await requireProvider(arm, subscriptionId, 'Microsoft.EventGrid')
  // An emulator has no other provider.
  if (target.name === 'Azure') await requireProvider(arm, subscriptionId, 'Microsoft.Storage')
  return { mayAssignRoles: granted !== undefined && isAllowed(granted, rolesAction) }
}

/** Throws a UsageError where nobody can sign in. */
export async function requireAccount({ credential, resourceManagerScope }: Target, signal: AbortSignal): Promise<void> {
  await credential.getToken(resourceManagerScope, { abortSignal: signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    const fix = 'sign in by "az login", or set AZURE_CLIENT_ID and the like'
    throw new UsageError(`there is no account: ${fix}: ${messageOf(error)}`, { cause: error })
  })
}

/** Throws a UsageError for a group in which somebody has something: a run would be in his way, and he in its. */
async function requireEmpty(arm: Arm, group: string): Promise<void> {
  const inside = await contentsOf(arm, group)
  if (inside.length === 0) return
  const names = inside.slice(0, 5).join(', ')
  throw new UsageError(
    `the resource group ${nameOf(group)} is not empty (${names}): name an empty one, or none for a new one`,
  )
}

/** The names of what is in a resource group. */
export async function contentsOf(arm: Arm, group: string): Promise<readonly string[]> {
  const all = await pagesOf(arm, `${group}/resources`, apiVersions.resources)
  return all.map((one) => (isRecord(one) && typeof one.id === 'string' ? nameOf(one.id) : '?'))
}

/** The resource groups that earlier runs have made and left. Azure's list may lag behind by some minutes. */
export async function findLeftGroups(arm: Arm, subscriptionId: string, now: number): Promise<readonly LeftGroup[]> {
  const all = await pagesOf(arm, `/subscriptions/${subscriptionId}/resourcegroups`, apiVersions.resources)
  return all.flatMap((one) => leftGroupOf(one, subscriptionId, now) ?? [])
}

/** The same list that `check` reads; `undefined` where the account may not read it. */
async function permissionsAt(arm: Arm, group: string) {
  const path = `${group}/providers/Microsoft.Authorization/permissions`
  try {
    return readPermissions(await pagesOf(arm, path, apiVersions.authorization))
  } catch {
    return undefined
  }
}

/** The entries of all pages. Rejects where one can't be read. */
async function pagesOf(arm: Arm, path: string, apiVersion: string): Promise<readonly unknown[]> {
  const get = async (page: string) => {
    const { status, body } = await arm.send('GET', page, { apiVersion })
    if (status !== 200) throw refused(`${path} can't be read`, status, errorOf(body))
    return body
  }
  return readList(get, path, 'entries')
}

async function requireProvider(arm: Arm, subscriptionId: string, namespace: string): Promise<void> {
  const { status, body } = await arm.send('GET', `/subscriptions/${subscriptionId}/providers/${namespace}`)
  const state = isRecord(body) ? body.registrationState : undefined
  if (status === 200 && state === 'Registered') return
  // Who may not read it learns it from the first refusal.
  if (status === 403) return
  throw new UsageError(
    `${namespace} is not registered (${String(state ?? status)}): az provider register --namespace ${namespace}`,
  )
}

function refused(what: string, status: number, error: ReturnType<typeof errorOf>): UsageError {
  return new UsageError(`${what}: ${status}${error ? ` ${error.code}: ${error.message.slice(0, 300)}` : ''}`)
}
