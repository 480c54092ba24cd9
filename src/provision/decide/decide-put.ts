// Keep, wait, refuse or write whole, for pull's event subscriptions; differing fields.
import { isDeepStrictEqual } from 'node:util'
import { isRecord, type UnknownRecord } from '../../support/text/is-record.ts'
import { isNothing } from './canonical-subscription.ts'
import { isChanging } from './decide-upsert.ts'

/** What is to be done about an event subscription that is always written whole. */
export type PutDecision =
  | { readonly action: 'keep' }
  | { readonly action: 'wait'; readonly state: string }
  | ({ readonly action: 'refuse' } & Refusal)
  | { readonly action: 'put'; readonly because: string; readonly properties: UnknownRecord }

interface Refusal {
  readonly because: string
  readonly fix: string
}

/** What differs between the kinds of event subscription. */
export interface PutRules {
  /** Why what exists must not be written. */
  refusalOf(properties: UnknownRecord): Refusal | undefined
  /** Puts what the metadata asks for over what exists. */
  merge(properties: UnknownRecord): UnknownRecord
}

/** @param existing the `properties` that ARM holds; `undefined` where there is no event subscription */
export function decidePut(existing: UnknownRecord | undefined, { refusalOf, merge }: PutRules): PutDecision {
  if (existing === undefined) return { action: 'put', because: 'there is none', properties: merge({}) }
  // ARM fills these in; they are not written.
  const { provisioningState, topic: _topic, systemData: _systemData, ...before } = existing
  const state = String(provisioningState)
  if (isChanging({ provisioningState: state })) return { action: 'wait', state }
  const refusal = refusalOf(before)
  if (refusal) return { action: 'refuse', ...refusal }
  const properties = merge(before)
  // As members of an object, so that an empty one is the same as none.
  const differing = Object.keys(properties).filter(
    (name) => !isDeepStrictEqual(canonicalJson({ [name]: before[name] }), canonicalJson({ [name]: properties[name] })),
  )
  if (differing.length === 0 && state === 'Succeeded') return { action: 'keep' }
  const because = differing.length === 0 ? `its state is ${state}` : `other ${differing.join(', ')}`
  return { action: 'put', because, properties }
}

/** For comparing: without nulls, empty texts, empty lists and empty objects, and resource ids in lower case. */
function canonicalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalJson)
  if (typeof value === 'string') return value.startsWith('/subscriptions/') ? value.toLowerCase() : value || undefined
  if (!isRecord(value)) return value ?? undefined
  const members = Object.entries(value).map(([name, member]) => [name, canonicalJson(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isNothing(member)))
}
