import type { MetadataIssue } from '../core/errors.ts'
import { credentialFields } from './configured-sides.ts'
import { type FieldName, metadataFields, type Side } from './fields.ts'

/** What the choice of required fields goes by; values as they were written, or their defaults. */
export interface RequiredBy {
  readonly has: (name: FieldName) => boolean
  readonly textOf: (name: FieldName) => string | undefined
  /** Did the host hand over a credential? Then no field of one is needed. */
  readonly credentialGiven: boolean
}

/**
 * The faults of fields that a side needs and does not have. A field is needed while the authentication it
 * serves is the default; another `azureCredential` or `topicAuthentication`, or the host's credential,
 * lifts exactly those it replaces.
 */
export function missingFields(side: Side, by: RequiredBy): readonly MetadataIssue[] {
  const missing = (side === 'input' ? neededByInput(by) : neededByOutput(by)).filter(({ field }) => !by.has(field))
  const issues: MetadataIssue[] = missing.map(({ field, why }) => ({ field, rule: `is required ${why}` }))
  return side === 'input' ? [...issues, ...missingDeliverySource(by, missing), ...missingHalf(by)] : issues
}

type Need = { readonly field: FieldName; readonly why: string }

function neededByInput(by: RequiredBy): readonly Need[] {
  const lifted = new Set<FieldName>(credentialIsClientSecret(by) ? [] : credentialFields)
  const needs = requiredOf('input').filter(({ field }) => !lifted.has(field))
  if (by.textOf('deliveryAuthentication')?.toLowerCase() !== 'entra') return needs
  const why = 'with deliveryAuthentication entra'
  const others = (['tenantId', 'clientId'] as const).filter((field) => lifted.has(field))
  return [...others.map((field) => ({ field, why })), ...needs]
}

function neededByOutput(by: RequiredBy): readonly Need[] {
  const byEntra = by.textOf('topicAuthentication')?.toLowerCase() === 'entra'
  const needs = requiredOf('output').filter(({ field }) => !(byEntra && field === 'accessKey'))
  if (!byEntra || !credentialIsClientSecret(by)) return needs
  return [...credentialFields.map((field) => ({ field, why: 'with topicAuthentication entra' })), ...needs]
}

const requiredOf = (side: Side): readonly Need[] =>
  metadataFields
    .filter(({ sides, required }) => required && sides.includes(side))
    .map(({ name }) => ({ field: name, why: `on the ${side} side` }))

const credentialIsClientSecret = ({ credentialGiven, textOf }: RequiredBy) =>
  !credentialGiven && textOf('azureCredential')?.toLowerCase() === 'clientsecret'

/** `secret` deliveries need something to derive their token from. */
function missingDeliverySource(by: RequiredBy, missing: readonly Need[]): readonly MetadataIssue[] {
  const bySecret = by.textOf('deliveryAuthentication')?.toLowerCase() === 'secret'
  if (!bySecret || by.has('clientSecret') || by.has('deliveryToken')) return []
  if (missing.some(({ field }) => field === 'clientSecret')) return []
  const fix = 'set deliveryToken, or set deliveryAuthentication to entra'
  return [{ field: 'deliveryToken', rule: 'is required with deliveryAuthentication secret and no clientSecret', fix }]
}

/** The two fields of dead-lettering: both or none. */
function missingHalf({ has }: RequiredBy): readonly MetadataIssue[] {
  const pair = ['deadLetterStorageAccountId', 'deadLetterContainer'] as const
  const [present] = pair.filter((field) => has(field))
  const [absent] = pair.filter((field) => !has(field))
  return present && absent ? [{ field: absent, rule: `is required with ${present}` }] : []
}
