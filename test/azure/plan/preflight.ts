/** What is asked before anything is made: account, group, rights, providers, left-overs. */
import { readWholeList } from '../../../src/provision/arm/read-list.ts'
import { isAllowed, readPermissions } from '../../../src/sidecar/check/checks/azure/check-permission.ts'
import { UsageError } from '../../../src/support/command-line/usage-error.ts'
import { messageOf } from '../../../src/support/process/error-code.ts'
import { isRecord } from '../../../src/support/text/is-record.ts'
import { type Arm, apiVersions, errorOf } from '../wire/arm.ts'
import type { Target } from '../wire/target.ts'
import { tagName } from './names.ts'

/** What the account needs in the group. */
const actions = [
  'Microsoft.EventGrid/topics/write',
  'Microsoft.EventGrid/domains/write',
  'Microsoft.EventGrid/namespaces/write',
  'Microsoft.EventGrid/eventSubscriptions/write',
  'Microsoft.Storage/storageAccounts/write',
] as const
const rolesAction = 'Microsoft.Authorization/roleAssignments/write'

export interface Preflight {
  /** Whether the account may give the namespace a role at the storage account. */
  readonly mayAssignRoles: boolean
  /** The ids of what earlier runs have left. */
  readonly leftOvers: readonly string[]
}

/** Asks all of it. Throws a UsageError that says what to do, where a run would not get far. */
export async function lookAhead(
  { arm, target }: { readonly arm: Arm; readonly target: Target },
  { subscriptionId, group }: { readonly subscriptionId: string; readonly group: string },
  signal: AbortSignal,
): Promise<Preflight> {
  await target.credential.getToken(target.resourceManagerScope, { abortSignal: signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    const fix = 'sign in by "az login", or set AZURE_CLIENT_ID and the like'
    throw new UsageError(`there is no account: ${fix}: ${messageOf(error)}`, { cause: error })
  })
  const found = await arm.send('GET', group)
  if (found.status !== 200)
    throw refused(`the resource group ${group} can't be read`, found.status, errorOf(found.body))
  const granted = await permissionsAt(arm, group)
  const lacking = granted && actions.filter((action) => !isAllowed(granted, action))
  if (lacking && lacking.length > 0)
    throw new UsageError(
      `the account's roles at ${group} do not allow ${lacking.join(', ')}: the role Contributor does`,
    )
  await requireProvider(arm, subscriptionId, 'Microsoft.EventGrid')
  // An emulator has no other provider.
  if (target.name === 'Azure') await requireProvider(arm, subscriptionId, 'Microsoft.Storage')
  return {
    mayAssignRoles: granted !== undefined && isAllowed(granted, rolesAction),
    leftOvers: await findLeftOvers(arm, group),
  }
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
  return readWholeList(get, path, 'entries')
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

/**
 * What has the tag in the group. The filter is Azure's; the tag is read again, since an emulator may not know the filter. Azure's list
 * may lag behind by some minutes.
 */
export async function findLeftOvers(arm: Arm, group: string): Promise<readonly string[]> {
  const filter = encodeURIComponent(`tagName eq '${tagName}'`)
  const all = await pagesOf(arm, `${group}/resources?$filter=${filter}`, apiVersions.resources)
  return all.flatMap((one) => {
    const isOurs = isRecord(one) && isRecord(one.tags) && typeof one.tags[tagName] === 'string'
    return isOurs && typeof one.id === 'string' ? [one.id] : []
  })
}

function refused(what: string, status: number, error: ReturnType<typeof errorOf>): UsageError {
  return new UsageError(`${what}: ${status}${error ? ` ${error.code}: ${error.message.slice(0, 300)}` : ''}`)
}
