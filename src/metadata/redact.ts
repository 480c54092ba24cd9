import { Secret } from '../core/secret.ts'
import { quote } from '../support/text.ts'
import { findField } from './fields.ts'

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
