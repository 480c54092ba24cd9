import { splitDeliveryCredentials } from '../core/delivery-credential.ts'

/** The most credentials that the delivery attribute holds: enough for a rotation that starts before the last one ended. */
export const maxCredentials = 3

/** Leaves out what no replica wrote, such as the word `Hidden` that ARM shows in place of a secret. */
const credentialPattern = /^[\w-]{1,100}\.[\w-]{1,200}$/

export interface MergedCredentials {
  /** The value to write: the existing one where it holds ours already. */
  readonly value: string
  readonly added: boolean
  /** How many credentials of others had to go, the oldest first. */
  readonly removed: number
}

/**
 * Adds our credential to the delivery attribute, in front of those of other replicas. Replicas of an old and a new
 * version run side by side during a roll-out, and each must find its own.
 */
export function mergeCredentials(existing: string | undefined, ours: string): MergedCredentials {
  const present = splitDeliveryCredentials(existing ?? '')
  if (existing !== undefined && present.includes(ours)) return { value: existing, added: false, removed: 0 }
  const others = [...new Set(present)].filter((credential) => credentialPattern.test(credential))
  const kept = others.slice(0, maxCredentials - 1)
  return { value: [ours, ...kept].join(','), added: true, removed: others.length - kept.length }
}
