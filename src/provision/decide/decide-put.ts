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
  const named = Object.fromEntries(Object.keys(properties).map((name) => [name, before[name]]))
  const differing = differingPaths(canonicalJson(named), canonicalJson(properties))
  if (differing.length === 0 && state === 'Succeeded') return { action: 'keep' }
  const because = differing.length === 0 ? `its state is ${state}` : `other ${differing.join(', ')}`
  return { action: 'put', because, properties }
}

/** The fields that differ, as Resource Manager spells them: `filtersConfiguration.includedEventTypes`. */
function differingPaths(before: unknown, after: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(before, after)) return []
  const [one, other] = [before ?? {}, after ?? {}]
  if (!isRecord(one) || !isRecord(other)) return [path]
  return Object.keys({ ...one, ...other }).flatMap((name) =>
    differingPaths(one[name], other[name], path === '' ? name : `${path}.${name}`),
  )
}

/** For comparing: without nulls, empty texts, empty lists and empty objects, and resource ids in lower case. */
function canonicalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonicalJson)
  if (typeof value === 'string') return value.startsWith('/subscriptions/') ? value.toLowerCase() : value || undefined
  if (!isRecord(value)) return value ?? undefined
  const members = Object.entries(value).map(([name, member]) => [name, canonicalJson(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isNothing(member)))
}
