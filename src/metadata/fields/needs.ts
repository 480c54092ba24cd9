/** When a field is required, and why: by what reads it, and by what other fields say. */

/** What reads a field: the input side by push or by pull, or the output side. */
export type Reader = 'push' | 'pull' | 'output'

export const credentialKinds = ['clientSecret', 'managedIdentity', 'workloadIdentity', 'cli', 'default'] as const
export const deliveryAuthentications = ['secret', 'entra', 'none'] as const
export const deliveryModes = ['push', 'pull'] as const
export const provisionings = ['manage', 'check', 'none'] as const
export const topicAuthentications = ['accessKey', 'entra'] as const

/** What decides which fields are required. */
export interface Circumstances {
  readonly azureCredential: (typeof credentialKinds)[number]
  readonly deliveryAuthentication: (typeof deliveryAuthentications)[number]
  readonly provisioning: (typeof provisionings)[number]
  readonly topicAuthentication: (typeof topicAuthentications)[number]
  /** Did the host pass a credential? Then no credential field is needed. */
  readonly credentialGiven: boolean
  readonly has: (name: string) => boolean
}

/**
 * Why this reader requires a field, as the rule ends: `is required on the input side`; `undefined` where the field is not required.
 * `or` is what may be done in place of writing the field.
 */
export type Need = (by: Circumstances, reader: Reader) => { readonly why: string; readonly or?: string } | undefined

/** The fields that a service principal is made of. The output side uses them too with `topicAuthentication: entra`. */
export const credentialFields = ['tenantId', 'clientId', 'clientSecret'] as const

const isOfFields = ({ credentialGiven, azureCredential }: Circumstances) =>
  !credentialGiven && azureCredential === 'clientSecret'

/** Is Resource Manager not asked about the event subscription? */
const isUnasked = ({ provisioning }: Circumstances) => provisioning === 'none'

/** Is there a credential of any kind? Pull delivery by a key needs none, and neither does `provisioning: none`. */
export const hasCredential = (by: Circumstances): boolean => !isOfFields(by) || credentialFields.every(by.has)

/** Required unless another credential replaces the field, or Resource Manager is not asked. */
const ofCredential: Need = (by, reader) => {
  if (!isOfFields(by)) return undefined
  if (reader === 'output') {
    return by.topicAuthentication === 'entra' ? { why: 'with topicAuthentication entra' } : undefined
  }
  if (reader === 'push') return isUnasked(by) ? undefined : { why: 'on the input side' }
  if (!by.has('namespaceKey')) return { why: 'with deliveryMode pull and no namespaceKey' }
  if (isUnasked(by)) return undefined
  if (!by.has('namespaceEndpoint')) return { why: 'with deliveryMode pull and no namespaceEndpoint' }
  const given = credentialFields.find(by.has)
  return given && { why: `with ${given}` }
}

/** Entra's tokens of deliveries name tenant and client, whatever signs in. */
export const ofTokens: Need = (by, reader) =>
  ofCredential(by, reader) ??
  (reader === 'push' && by.deliveryAuthentication === 'entra'
    ? { why: 'with deliveryAuthentication entra' }
    : undefined)

/** Also suggests `managedIdentity`: in other Dapr components a client id without a secret means a managed identity. */
export const ofSecret: Need = (by, reader) => {
  const required = ofCredential(by, reader)
  if (!required || !by.has('clientId')) return required
  const isDeliverySource = reader === 'push' && by.deliveryAuthentication === 'secret' && !by.has('deliveryToken')
  const also = isDeliverySource ? ' and a deliveryToken' : ''
  return { ...required, or: `for a managed identity set azureCredential: managedIdentity${also}` }
}

/** Deliveries by `secret` need something to derive their credential from. */
export const ofDeliveries: Need = (by, reader) => {
  if (reader !== 'push' || by.deliveryAuthentication !== 'secret' || by.has('clientSecret')) return undefined
  // Where the credential needs a clientSecret, its fault says it.
  if (ofCredential(by, reader)) return undefined
  return { why: 'with deliveryAuthentication secret and no clientSecret', or: 'set deliveryAuthentication to entra' }
}

/** Required by these readers. @param isSo in which circumstances. @default in all */
function need(readers: readonly Reader[], why: string, isSo: (by: Circumstances) => boolean = () => true): Need {
  return (by, reader) => (readers.includes(reader) && isSo(by) ? { why } : undefined)
}

export const byPush = need(['push'], 'on the input side')
export const byPushThatAsks = need(['push'], 'on the input side', (by) => !isUnasked(by))
export const byPull = need(['pull'], 'with deliveryMode pull')
export const byPullThatDoesNotAsk = need(['pull'], 'with provisioning none', isUnasked)
export const byInputThatDoesNotAsk = need(['push', 'pull'], 'with provisioning none', isUnasked)
export const byOutput = need(['output'], 'on the output side')
export const byOutputWithKey = need(['output'], 'on the output side', (by) => by.topicAuthentication === 'accessKey')

/** One of two fields that are given together. */
export const beside = (other: string) => need(['push', 'pull'], `with ${other}`, (by) => by.has(other))
