// The managed identities of a resource: what may be written, and what ARM shows, with the ids that Azure gives them.
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { enumeration } from '../../model/enumeration.ts'
import { stableGuid } from '../../model/stable-guid.ts'

/** The identity of a topic, domain, system topic or namespace, as requested. */
export const resourceIdentity = z.looseObject({
  type: enumeration('None', 'SystemAssigned', 'UserAssigned', 'SystemAssigned, UserAssigned'),
  userAssignedIdentities: z
    .record(z.string().regex(/\/providers\/Microsoft\.ManagedIdentity\/userAssignedIdentities\/[^/]+$/i), z.unknown())
    .nullish(),
})

/** The identity of a topic or domain that has none (recorded, CLI 2021). */
export const noIdentity = { type: 'None', principalId: null, tenantId: null, userAssignedIdentities: null } as const

/**
 * Adds `principalId` and `tenantId` to a system-assigned identity, and `principalId` and `clientId` to each user-assigned one.
 * They stay the same as long as the resource has its id.
 */
export function viewIdentity(identity: unknown, { id, tenantId }: { readonly id: string; readonly tenantId: string }) {
  if (!isRecord(identity)) return identity
  const { type, userAssignedIdentities } = identity
  const isSystemAssigned = typeof type === 'string' && type.includes('SystemAssigned')
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
