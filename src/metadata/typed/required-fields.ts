// Which fields are required for each side, authentication and delivery mode: "is required …".
import type { MetadataIssue } from '../../core/errors.ts'
import type { Side } from '../fields/field-table.ts'
import { type FieldName, metadataFields } from '../fields/fields.ts'
import { credentialFields } from './configured-sides.ts'

/** What decides which fields are required; values as they were written, or their defaults. */
export interface RequiredBy {
  readonly has: (name: FieldName) => boolean
  readonly textOf: (name: FieldName) => string | undefined
  /** Did the host pass a credential? Then no credential field is needed. */
  readonly credentialGiven: boolean
}

/**
 * A fault for each required field that a side does not have. A field is required while the authentication that uses it is the
 * default. Another `azureCredential` or `topicAuthentication`, or the host's credential, lifts exactly the fields it replaces.
 */
export function missingFields(side: Side, by: RequiredBy): readonly MissingField[] {
  const missing = (side === 'input' ? neededByInput(by) : neededByOutput(by)).filter(({ field }) => !by.has(field))
  if (side === 'input' && missing.length > 0 && by.has('namespaceTopic') && !by.has('deliveryMode')) {
    // Pull was meant, because push does not have all its fields. Faults about these would hide the one that matters.
    return [pullNotChosen, ...missingHalf(by)]
  }
  const issues: MissingField[] = missing.map(({ field, why }) => ({ field, rule: `is required ${why}` }))
  if (side === 'output') return issues
  return [...issues, ...(isPull(by.textOf) ? [] : missingDeliverySource(by)), ...missingHalf(by)]
}

const pullNotChosen: MissingField = {
  field: 'deliveryMode',
  rule: 'must be pull where namespaceTopic is given',
  fix: 'write { name: deliveryMode, value: pull }',
}

type MissingField = MetadataIssue & { readonly field: FieldName }

type Need = { readonly field: FieldName; readonly why: string }

/** The binding asks nobody about the event subscription, so the fields that only say whom to ask are not needed. */
const isUnmanaged = ({ textOf }: RequiredBy) => textOf('provisioning')?.toLowerCase() === 'none'

export const isPull = (textOf: RequiredBy['textOf']) => textOf('deliveryMode')?.toLowerCase() === 'pull'

/**
 * Pull needs the namespace topic, and an Azure credential unless key and endpoint of the namespace are given: with one
 * credential field all are needed.
 */
function neededByPull(by: RequiredBy): readonly Need[] {
  const unmanaged = isUnmanaged(by) ? (['eventSubscriptionName', 'namespaceEndpoint'] as const) : []
  const needs: Need[] = [
    { field: 'namespaceTopic', why: 'with deliveryMode pull' },
    ...unmanaged.map((field) => ({ field, why: 'with provisioning none' })),
  ]
  if (!credentialIsClientSecret(by)) return needs
  const isKeyAlone = by.has('namespaceKey') && by.has('namespaceEndpoint') && !credentialFields.some(by.has)
  if (isKeyAlone || (isUnmanaged(by) && by.has('namespaceKey'))) return needs
  const why = `with deliveryMode pull and no ${by.has('namespaceKey') ? 'namespaceEndpoint' : 'namespaceKey'}`
  return [...needs, ...credentialFields.map((field) => ({ field, why }))]
}

function neededByInput(by: RequiredBy): readonly Need[] {
  if (isPull(by.textOf)) return neededByPull(by)
  const lifted = new Set<FieldName>(credentialIsClientSecret(by) && !isUnmanaged(by) ? [] : credentialFields)
  if (isUnmanaged(by)) lifted.add('subscriptionId')
  const needs = requiredOf('input').filter(({ field }) => !lifted.has(field))
  if (isUnmanaged(by)) needs.push({ field: 'eventSubscriptionName', why: 'with provisioning none' })
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

/** The fields that a side needs unless another authentication replaces them. */
export const requiredOf = (side: Side): Need[] =>
  metadataFields
    .filter(({ sides, required }) => required && sides.includes(side))
    .map(({ name }) => ({ field: name, why: `on the ${side} side` }))

const credentialIsClientSecret = ({ credentialGiven, textOf }: RequiredBy) =>
  !credentialGiven && textOf('azureCredential')?.toLowerCase() === 'clientsecret'

/**
 * Do the fields describe a credential, or did the host give one? Pull delivery by a key works without one, and so does
 * `provisioning: none`, where a `clientSecret` may stand for the deliveries alone.
 */
export const hasCredential = (by: RequiredBy) => !credentialIsClientSecret(by) || credentialFields.every(by.has)

/** `secret` deliveries need something to derive their token from. */
function missingDeliverySource(by: RequiredBy): readonly MissingField[] {
  const bySecret = by.textOf('deliveryAuthentication')?.toLowerCase() === 'secret'
  // Where the credential needs a clientSecret, its fault is reported already.
  if (
    !bySecret ||
    (credentialIsClientSecret(by) && !isUnmanaged(by)) ||
    by.has('clientSecret') ||
    by.has('deliveryToken')
  )
    return []
  const fix = 'set deliveryToken, or set deliveryAuthentication to entra'
  return [{ field: 'deliveryToken', rule: 'is required with deliveryAuthentication secret and no clientSecret', fix }]
}

/** The two fields of dead-lettering: both or none. */
function missingHalf({ has }: RequiredBy): readonly MissingField[] {
  const pair = ['deadLetterStorageAccountId', 'deadLetterContainer'] as const
  const [present] = pair.filter((field) => has(field))
  const [absent] = pair.filter((field) => !has(field))
  return present && absent ? [{ field: absent, rule: `is required with ${present}` }] : []
}
