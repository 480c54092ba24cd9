import { Secret } from '../core/secret.ts'
import { isRecord } from '../support/is-record.ts'
import { nearestName } from '../support/nearest-name.ts'
import { BrokenRule } from './broken-rule.ts'

/**
 * Secrets to resolve `secretKeyRef` from, as Dapr's local file store has them: texts by name, or
 * objects of texts, which a colon in the name or key goes down into (`redis:password`). Takes what
 * `JSON.parse` gives; only texts resolve.
 */
export type Secrets = Readonly<Record<string, unknown>>

/** The place where a missing secret belongs; `shape` is the JSON that holds it. */
export type SecretAdvice = (shape: string) => string

const maxNames = 1_000

const adviceToCallers: SecretAdvice = (shape) => `give parseComponents the option secrets, such as ${shape}`

/**
 * The text of `secretKeyRef: { name, key }`. `key` may be left out: it is the name then.
 *
 * @throws BrokenRule where there is no such secret
 */
export function resolveSecretKeyRef(
  { name, key = name }: { name: string; key?: string | undefined },
  secrets: Secrets,
  advice: SecretAdvice = adviceToCallers,
): string {
  const found = descend(secrets, name)
  const text = key === name && isText(found) ? found : typeof found === 'object' ? descend(found, key) : undefined
  if (isText(text)) return text instanceof Secret ? text.reveal() : text
  const typo = key === name ? nearestIn(secrets, name) : (nearestIn(secrets, name) ?? nearestIn(found, key))
  const which = key === name ? name : `${name} with key ${key}`
  const rule = `is a secretKeyRef to ${JSON.stringify(which.slice(0, 200))}, which the secrets do not hold as text`
  const [outer, inner] = [name, key].map((part) => JSON.stringify(part.slice(0, 100)))
  const shape = key === name ? `{ ${outer}: "…" }` : `{ ${outer}: { ${inner}: "…" } }`
  const meant = typo === undefined ? '' : `did you mean ${JSON.stringify(typo)}? If not: `
  throw new BrokenRule(rule, `${meant}${advice(shape)}; or correct the reference`)
}

/** A name like the one that is missing. Names of secrets are no secrets. */
function nearestIn(holder: unknown, name: string): string | undefined {
  return isHolder(holder) && !Object.hasOwn(holder, name)
    ? nearestName(name, Object.keys(holder).slice(0, maxNames))
    : undefined
}

/**
 * The text of `envRef`.
 *
 * @throws BrokenRule where the environment has no such variable
 */
export function resolveEnvRef(name: string, env: Readonly<Record<string, string | undefined>>): string {
  const text = Object.hasOwn(env, name) ? env[name] : undefined
  if (text !== undefined) return text
  const rule = `is an envRef to ${JSON.stringify(name.slice(0, 200))}, which is not set in the environment`
  throw new BrokenRule(rule, 'set the variable, or correct the reference')
}

const isText = (value: unknown): value is string | Secret => typeof value === 'string' || value instanceof Secret

/** The value under a name, or under the parts of the name between colons. */
function descend(secrets: unknown, name: string): unknown {
  const step = (holder: unknown, part: string): unknown =>
    isHolder(holder) && Object.hasOwn(holder, part) ? holder[part] : undefined
  return step(secrets, name) ?? name.split(':').reduce(step, secrets)
}

const isHolder = (value: unknown): value is Secrets => isRecord(value) && !(value instanceof Secret)
