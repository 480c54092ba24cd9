/** `secretKeyRef` looked up in secrets by name, a colon going down into nested ones; the message for a missing secret. */
import { Secret } from '../../core/secret.ts'
import { isRecord } from '../../support/text/is-record.ts'
import { nearestName } from '../../support/text/nearest-name.ts'
import { BrokenRule } from '../fields/broken-rule.ts'

/**
 * Secrets to resolve `secretKeyRef` from, as Dapr's local file store has them: texts by name, or
 * objects of texts, which a colon in the name or key goes down into (`redis:password`). Takes what
 * `JSON.parse` gives; only texts resolve.
 */
export type Secrets = Readonly<Record<string, unknown>>

interface SecretKeyRef {
  readonly name: string
  /** The name, where none is written. */
  readonly key: string
}

/** A `secretKeyRef` of a component. */
export interface SecretReference extends SecretKeyRef {
  /** The secret store that the component names (`auth.secretStore`); `undefined` where it names none. */
  readonly store: string | undefined
}

/** The text of a reference; `undefined` where there is no such secret. */
export function findSecret(secrets: Secrets, { name, key }: SecretKeyRef): string | undefined {
  const found = descend(secrets, name)
  const text = key === name && isText(found) ? found : typeof found === 'object' ? descend(found, key) : undefined
  if (!isText(text)) return undefined
  return text instanceof Secret ? text.reveal() : text
}

/** The error of a reference to a secret that is in none of these. @param advice says where it belongs; `shape` is the JSON that holds it */
export function missingSecret(
  reference: SecretKeyRef,
  searched: readonly Secrets[],
  advice: (shape: string) => string,
) {
  const { name, key } = reference
  const typo = searched
    .map((secrets) => nearestIn(secrets, name) ?? (key === name ? undefined : nearestIn(descend(secrets, name), key)))
    .find((meant) => meant !== undefined)
  const rule = `is a secretKeyRef to ${quoteReference(reference)}, which the secrets do not hold as text`
  const meant = typo === undefined ? '' : `did you mean ${JSON.stringify(typo)}? If not: `
  const fix = `${meant}${advice(shapeOf(reference))}; or correct the reference`
  return new BrokenRule(rule, fix, 'unresolvedReference')
}

export function quoteReference({ name, key }: SecretKeyRef): string {
  return JSON.stringify((key === name ? name : `${name} with key ${key}`).slice(0, 200))
}

/** The JSON that holds the secret of a reference. */
export function shapeOf({ name, key }: SecretKeyRef): string {
  const [outer, inner] = [name, key].map((part) => JSON.stringify(part.slice(0, 100)))
  return key === name ? `{ ${outer}: "…" }` : `{ ${outer}: { ${inner}: "…" } }`
}

const maxNames = 1_000

/** A name like the one that is missing. Names of secrets are no secrets. */
function nearestIn(holder: unknown, name: string): string | undefined {
  return isHolder(holder) && !Object.hasOwn(holder, name)
    ? nearestName(name, Object.keys(holder).slice(0, maxNames))
    : undefined
}

const isText = (value: unknown): value is string | Secret => typeof value === 'string' || value instanceof Secret

/** The value under a name, or under the parts of the name between colons. */
function descend(secrets: unknown, name: string): unknown {
  const step = (holder: unknown, part: string): unknown =>
    isHolder(holder) && Object.hasOwn(holder, part) ? holder[part] : undefined
  return step(secrets, name) ?? name.split(':').reduce(step, secrets)
}

const isHolder = (value: unknown): value is Secrets => isRecord(value) && !(value instanceof Secret)
