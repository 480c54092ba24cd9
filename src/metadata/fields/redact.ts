/** How a field's value is printed: plain, as a URL without query, or `(redacted)`. */
import { Secret } from '../../core/secret.ts'
import type { LocatedDocument, LocatedScalar } from '../../support/files/located-yaml.ts'
import { isRecord } from '../../support/text/json-text.ts'
import { quote } from '../../support/text/text.ts'
import { everyFieldName, findField } from './find-field.ts'

const redacted = '(redacted)'

/**
 * The value of a metadata field as it may be printed: quoted, or `(redacted)`.
 * Goes by the table of fields: a name that is not in it, and a field that does not say otherwise, is redacted.
 */
export function showValue(name: string, value: unknown): string {
  if (value instanceof Secret) return redacted
  const shown = findField(name)?.shown ?? 'redacted'
  if (shown === 'redacted') return redacted
  if (Array.isArray(value)) return '(a list)'
  if (typeof value === 'object' && value !== null) return '(an object)'
  if (typeof value !== 'string') return String(value)
  return quote(shown === 'url' ? showUrl(value) : value)
}

/** A URL without what may be secret in it: user info and query become `(redacted)`, a fragment is left out. */
export function showUrl(text: string): string {
  const url = URL.parse(text)
  if (!url?.host) return text.includes('@') ? redacted : text.replace(/[?#].*$/s, `?${redacted}`)
  const userInfo = url.username || url.password ? `${redacted}@` : ''
  const query = url.search ? `?${redacted}` : ''
  return `${url.protocol}//${userInfo}${url.host}${url.pathname}${query}`
}

/** May a value of this field be handed out as plain text in an object that somebody could print? */
export function isPrintable(name: string, text: string): boolean {
  const shown = findField(name)?.shown
  if (shown === 'url') return !/[?#@]/.test(text)
  return shown === 'plain'
}

/** Words of the envelope that are not secret. */
const words: ReadonlySet<string> = new Set([
  ...['apiVersion', 'kind', 'Component', 'metadata', 'namespace', 'spec', 'type', 'version', 'scopes'],
  ...['name', 'value', 'secretKeyRef', 'key', 'envRef', 'auth', 'secretStore', 'v1', 'dapr.io/v1alpha1'],
  ...everyFieldName,
])

/** Scalars that name something: those of an envelope, and of an entry all but its value. */
const shownPaths: readonly RegExp[] = [
  /^(apiVersion|kind|metadata\.(name|namespace)|spec\.(type|version)|auth\.secretStore|scopes\.\d+)$/,
  /^spec\.metadata\.\d+\.(name|envRef|secretKeyRef\.(name|key))$/,
]

function isShown({ path: whole, isKey, text }: LocatedScalar, { value }: LocatedDocument): boolean {
  // A list of kubectl holds components as its items.
  const [list, at] = whole
  const items: unknown = list === 'items' && isRecord(value) ? value.items : undefined
  const document: unknown = Array.isArray(items) ? items[Number(at)] : value
  const path = Array.isArray(items) ? whole.slice(2) : whole
  if (isKey) return /^[a-z]{1,40}$/i.test(text)
  if (shownPaths.some((pattern) => pattern.test(path.join('.')))) return true
  const [spec, metadata, index, key] = path
  if (path.length !== 4 || spec !== 'spec' || metadata !== 'metadata' || key !== 'value') return false
  const entries = isRecord(document) && isRecord(document.spec) ? document.spec.metadata : undefined
  const entry: unknown = Array.isArray(entries) ? entries[Number(index)] : undefined
  return isRecord(entry) && typeof entry.name === 'string' && isPrintable(entry.name, text)
}

/** What the excerpt of a component's YAML shows: only what is known to be no secret. In a text with a syntax error that is little. */
export const shownInExcerpt = { words, isShown } as const
