/** What is hidden in a text from outside before it is shown: our secrets in the spellings that programs write, queries of URLs, tokens. */
import { oneLine } from '../support/text/text.ts'
import { keepNewest } from '../support/work/work.ts'
import { redacted } from './secret.ts'

/** UTF-16 units of a text that are shown. */
const maxLength = 1_000
/** A longer text is cut before secrets are looked for, between two words, so that no half of a secret stays. */
const maxRead = 20_000

/**
 * Hides queries of URLs, tokens and the given secrets in a text. A secret is found in plain text and in these encodings: URL, form, JSON
 * escapes, HTML entities, base64 and base64url (also inside longer base64). A secret that is encoded twice is not found.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  let shown = text
  // The longest first: a secret may begin with another one.
  for (const secret of [...secrets].sort((one, other) => other.length - one.length)) {
    if (secret.length < minWithinWords) shown = hideAlone(shown, secret)
    for (const spelling of spellingsOf(secret)) shown = shown.replaceAll(spelling, redacted)
  }
  return shown.replace(token, redacted).replace(query, redacted).replace(user, redacted).replace(url, hideFragment)
}

/** Makes a text from outside fit to be shown: {@link hideSecrets}, turns line breaks into spaces, and cuts the text at 1,000 characters. */
export function scrub(text: string, secrets: readonly string[] = []): string {
  const read = text.length > maxRead ? text.slice(0, Math.max(0, text.lastIndexOf(' ', maxRead))) : text
  return oneLine(hideSecrets(read, secrets), maxLength)
}

/** The secrets in the query of a URL, for {@link hideSecrets}: the whole query, and each value as it stands and decoded. */
export function querySecrets(address: string): string[] {
  const { search } = new URL(address)
  const raw = search.slice(1)
  const values = raw.split('&').map((part) => part.slice(part.indexOf('=') + 1))
  return [...new Set([raw, ...values, ...values.flatMap(decodings)])].filter((text) => text !== '')
}

/** A `+` is a space in a form, and itself elsewhere. */
function decodings(value: string): string[] {
  return [value, value.replaceAll('+', ' ')].flatMap((text) => {
    try {
      return decodeURIComponent(text)
    } catch {
      return []
    }
  })
}

/**
 * What follows `Bearer` or `SharedAccessKey` in a header, in JSON (also within a string of JSON) or in a connection string, and tokens of
 * Entra. Found by their form: we know our own secrets only.
 */
const token =
  /(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)[\s=:"'\\]{1,8})[^\s=:"'\\<>,;][^\s"'<>,;]{3,}|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+/gi

/** The query of a URL or of a path, also where both are written as a value of another query. */
const query = /(?<=[\w/.~-](?:\?|%3f))[^\s"'<>]+/gi

/** User and password of a URL, also where JSON has its slashes escaped. */
const user = /(?<=:\\?\/\\?\/)[^\s"'<>/?#]+(?=@)/g

/** Whole URLs: a pattern for the fragment alone would take quadratic time on a text with many URLs. */
const url = /https?:\/\/[^\s"'<>]*/gi

const hideFragment = (address: string) => address.replace(/#.+/, `#${redacted}`)

/** A shorter secret is hidden only where it stands alone: hidden within words, it would make ordinary text unreadable. */
const minWithinWords = 4

function hideAlone(text: string, secret: string): string {
  if (secret === '') return text
  const literal = secret.replace(/[^\w\s]/g, '\\$&')
  return text.replace(new RegExp(`(?<![a-z\\d])${literal}(?![a-z\\d])`, 'g'), redacted)
}

/** Spellings are computed once for each secret. A process with 50 components has fewer. */
const maxKnown = 500
const known = new Map<string, readonly string[]>()

/** Every spelling of a secret, the longest first, since one may be the beginning of another. */
function spellingsOf(secret: string): readonly string[] {
  const before = known.get(secret)
  if (before) return before
  // Who splits a form at each `=` gives the padding of a base64 key away.
  const texts = [...new Set([secret, secret.replace(/={1,2}$/, '')])]
  const spellings = texts.flatMap((text) => [text, ...inUrl(text), ...inJson(text), ...inHtml(text), ...inBase64(text)])
  const found = [...new Set(spellings)].filter(({ length }) => length >= minWithinWords)
  found.sort((one, other) => other.length - one.length)
  keepNewest(known, secret, found, maxKnown)
  return found
}

/** By `encodeURIComponent`, with the signs that it leaves, and by `encodeURI`; a form writes a space as `+`. Hexadecimal in both cases. */
function inUrl(secret: string): string[] {
  const text = secret.toWellFormed()
  const component = encodeURIComponent(text)
  const strict = component.replace(/[!'()*~]/g, (sign) => `%${hex(sign.charCodeAt(0), 2)}`)
  const upper = [component, strict, encodeURI(text), new URLSearchParams({ '': text }).toString().slice(1)]
  // Whoever reads a form takes a `+` for a space.
  return [...upper, strict.replaceAll('%20', '+'), text.replaceAll('+', ' ')].flatMap((written) => [
    written,
    lowered(written, /%[\dA-F]{2}/g),
  ])
}

/** As JavaScript, PHP (`\/`), Python (all but ASCII as `\u`), Go and .NET (`<`, `>`, `&` and others as `\u`) write a text in JSON. */
function inJson(text: string): string[] {
  const plain = JSON.stringify(text).slice(1, -1)
  const ascii = plain.replace(/[^ -~]/g, inUnicode)
  const go = ascii.replace(/[<>&]/g, inUnicode)
  const dotNet = ascii.replace(/[<>&'+`]/g, inUnicode)
  return [plain, ascii, go, dotNet, dotNet.replaceAll('\\"', inUnicode('"'))].flatMap((written) => {
    const both = [written, lowered(written, /\\u[\dA-F]{4}/g)]
    return [...both, ...both.map((one) => one.replaceAll('/', '\\/'))]
  })
}

const inUnicode = (unit: string) => `\\u${hex(unit.charCodeAt(0), 4)}`

/**
 * The HTML encodings of a secret. By entity names (`&amp;`), and by numbers (`&#38;`) for the five special characters, for all punctuation,
 * for every character, or for the further characters that some frameworks encode.
 */
function inHtml(text: string): string[] {
  const named = ["'", '&apos;', '&#39;', '&#x27;'].map((apostrophe) =>
    text.replace(/[&<>"']/g, (sign) => names[sign] ?? apostrophe),
  )
  const numbers = [decimal, hexadecimal]
  const numbered = [/[&<>"']/, /[^\w\s.-]/, /^/].flatMap((signs) =>
    numbers.map((by) => Array.from(text, (one) => (signs.test(one) ? by(one) : one)).join('')),
  )
  const added = [/\+/g, /[`=]/g, /[`=/]/g].flatMap((signs) =>
    numbers.flatMap((by) => named.map((written) => written.replace(signs, by))),
  )
  return [...named, ...numbered, ...added].flatMap((written) => [written, lowered(written, /&#x[\dA-F]+;/g)])
}

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const decimal = (sign: string) => `&#${sign.codePointAt(0)};`
const hexadecimal = (sign: string) => `&#x${hex(sign.codePointAt(0) ?? 0, 1)};`

/** The base64 and base64url encodings of a secret: alone, and inside a longer text, for each of the three byte offsets it may begin at. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text)
  const whole = bytes.toString('base64')
  const within = [0, 1, 2].map((before) => {
    const written = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Characters that hold no bit of what stands before or after.
    return written.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [whole, whole.replace(/={1,2}$/, ''), ...within].flatMap((written) => [
    written,
    written.replaceAll('+', '-').replaceAll('/', '_'),
  ])
}

const hex = (code: number, digits: number) => code.toString(16).toUpperCase().padStart(digits, '0')

const lowered = (text: string, escapes: RegExp) => text.replace(escapes, (one) => one.toLowerCase())
