/** The secrets that a caller gives: by name, by store, or asked for one by one. */
import { isRecord } from '../../support/text/is-record.ts'
import type { SecretReference, Secrets } from '../component/secret-reference.ts'

/** Secrets by the name of their secret store, then as {@link Secrets}. */
export interface SecretsByStore {
  readonly stores: Readonly<Record<string, Secrets>>
}

/** A text that is equal for equal references. */
export const keyOfReference = ({ store, name, key }: SecretReference): string => JSON.stringify([store, name, key])

/** What the caller gave, sorted out. */
export type GivenSecrets =
  | { readonly kind: 'byName'; readonly secrets: Secrets }
  | { readonly kind: 'byStore'; readonly stores: SecretsByStore['stores'] }
  | { readonly kind: 'function'; readonly ask: (reference: SecretReference) => string | undefined }
  /** They could not be read, for this reason. */
  | { readonly kind: 'unreadable'; readonly why: string }

/** Whether a record is by store: `stores` is all that it holds, and holds objects alone. Else `stores` is a secret's name. */
export function sortRecord(given: Secrets | SecretsByStore): GivenSecrets {
  const secrets: Secrets = { ...given }
  const { stores } = secrets
  const isByStore = Object.keys(given).length === 1 && isRecord(stores) && isRecordOfRecords(stores)
  return isByStore ? { kind: 'byStore', stores } : { kind: 'byName', secrets }
}

const isRecordOfRecords = (value: Secrets): value is SecretsByStore['stores'] => Object.values(value).every(isRecord)

/** What a function of the caller's gave for a reference. Its own error is passed on as it is. */
export function checkAnswer(answer: unknown): string | undefined {
  if (answer === undefined || answer === null || typeof answer === 'string') return answer ?? undefined
  const isPromise = answer instanceof Promise
  // Nobody awaits it any more: its failure must not end the process.
  if (isPromise) answer.catch(() => {})
  const fix = isPromise ? ': loadComponents takes a function that gives a promise' : ''
  throw new TypeError(`the function secrets must give a text or undefined${fix}`)
}
