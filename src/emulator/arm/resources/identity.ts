// The managed identities of a resource as ARM shows them: the ids that Azure gives them.
import { isRecord } from '../../../support/text/is-record.ts'
import { stableGuid } from '../../model/resources/stable-guid.ts'

/**
 * Adds `principalId` and `tenantId` to a system-assigned identity, and `principalId` and `clientId` to each user-assigned one.
 * They stay the same as long as the resource has its id.
 */
export function viewIdentity(identity: unknown, { id, tenantId }: { readonly id: string; readonly tenantId: string }) {
  if (!isRecord(identity)) return identity
  const { type, userAssignedIdentities } = identity
  const isSystemAssigned = typeof type === 'string' && type.toLowerCase().includes('systemassigned')
  return {
    ...identity,
    ...(isSystemAssigned && { principalId: guidOf(id, 'principal'), tenantId }),
    ...(isRecord(userAssignedIdentities) && {
      userAssignedIdentities: Object.fromEntries(
        Object.keys(userAssignedIdentities).map((assigned) => [
          assigned,
          { principalId: guidOf(assigned, 'principal'), clientId: guidOf(assigned, 'client') },
        ]),
      ),
    }),
  }
}

const guidOf = (id: string, what: string) => stableGuid(`${what} of ${id.toLowerCase()}`)
