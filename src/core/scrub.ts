/** What is hidden in a text from outside before it is shown: our secrets in the spellings that programs write, queries of URLs, tokens. */
import { oneLine } from '../support/text/text.ts'
import { keepNewest } from '../support/work/work.ts'

const hidden = '(redacted)'

/** UTF-16 units of a text that are shown. */
const maxLength = 1_000
/** A longer text is cut before secrets are looked for, between two words, so that no half of a secret stays. */
const maxRead = 20_000

/**
 * Hides queries of URLs, tokens and the given secrets in a text. A secret is found as it is, as a URL or form writes it, with JSON's
 * escapes, with HTML's five names or numbers, and in base64 or base64url, also within longer base64. Spellings of spellings are not found.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const shown = secrets.reduce(
    (shown, secret) => (secret === '' ? shown : shown.replace(patternOf(secret), hidden)),
    text,
  )
  return shown.replace(token, hidden).replace(query, hidden).replace(url, hideFragment)
}

/** Makes a text from outside fit to be shown: {@link hideSecrets}, turns line breaks into spaces, and cuts the text at 1,000 characters. */
export function scrub(text: string, secrets: readonly string[] = []): string {
  const read = text.length > maxRead ? text.slice(0, Math.max(0, text.lastIndexOf(' ', maxRead))) : text
  return oneLine(hideSecrets(read, secrets), maxLength)
}

/** The secrets in the query of a URL, for {@link hideSecrets}: the whole of it, and each value as it stands and decoded. */
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

/** `Authorization: Bearer ...`, `SharedAccessKey ...`, and tokens of Entra: nobody gave us those of others. */
const token =
  /(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)\s)[^\s"'<>,]{4,}|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+/gi

/** The query of a URL or of a path, also where both are written as a value of another query. */
const query = /(?<=[\w/.~-](?:\?|%3f))[^\s"'<>]+/gi

/** Whole URLs: a pattern for the fragment alone would take quadratic time on a text with many URLs. */
const url = /https?:\/\/[^\s"'<>]*/gi

const hideFragment = (address: string) => address.replace(/#.+/, `#${hidden}`)

/** A shorter secret is hidden only where it stands alone: within words it would blot out ordinary ones. */
const minWithinWords = 4

/** A pattern is made once for each secret. A process with 50 components has fewer. */
const maxKnown = 500
const known = new Map<string, RegExp>()

/** Finds every spelling of a secret. */
function patternOf(secret: string): RegExp {
  const before = known.get(secret)
  if (before) return before
  // Who splits a form at each `=` gives the padding of a base64 key away.
  const [, core = secret, padding = ''] = /^(.{4,}?)(={1,2})$/s.exec(secret) ?? []
  const spelled = Array.from(core, (sign) => `(?:${literally(spellingsOf(sign))})`)
  const padded = Array.from(padding, (sign) => `(?:${literally(spellingsOf(sign))})?`)
  const any = `(?:${[...spelled, ...padded].join('')}|${literally(inBase64(secret))})`
  const pattern = new RegExp(secret.length < minWithinWords ? `(?<![a-z\\d])${any}(?![a-z\\d])` : any, 'g')
  keepNewest(known, secret, pattern, maxKnown)
  return pattern
}

/** These texts as alternatives of a pattern, the longest first, since one may be the beginning of another. */
const literally = (texts: readonly string[]) =>
  [...new Set(texts)]
    .sort((one, other) => other.length - one.length)
    .map((text) => text.replace(/[^\w\s]/g, '\\$&'))
    .join('|')

/**
 * How programs write one character: as it is; in a URL by its bytes in UTF-8, where a form has `+` for a space, and who reads a form a
 * space for `+`; in JSON; in HTML by its name or number. Hexadecimal in both cases.
 */
function spellingsOf(sign: string): readonly string[] {
  const bytes = [...Buffer.from(sign)].map((byte) => `%${hex(byte, 2)}`).join('')
  const units = sign.split('').map((unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)
  const number = sign.codePointAt(0) ?? 0
  const byNumber = [bytes, units.join(''), `&#x${hex(number, 1)};`]
  return [
    ...[sign, JSON.stringify(sign).slice(1, -1), `&#${number};`, ...byNumber, ...byNumber.map(upper)],
    ...(others[sign] ?? []),
  ]
}

const others: Readonly<Record<string, readonly string[]>> = {
  ' ': ['+'],
  '+': [' '],
  '/': ['\\/'],
  '&': ['&amp;'],
  '<': ['&lt;'],
  '>': ['&gt;'],
  '"': ['&quot;'],
  "'": ['&apos;'],
}

/** In base64 and base64url: the whole, and what a longer text has of it in base64, where it begins at each place of three bytes. */
function inBase64(text: string): readonly string[] {
  const bytes = Buffer.from(text)
  const whole = bytes.toString('base64')
  const within = [0, 1, 2].map((before) => {
    const written = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    // Characters that hold no bit of what stands before or after.
    return written.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
  })
  return [whole, whole.replace(/={1,2}$/, ''), ...within]
    .filter(({ length }) => length >= minWithinWords)
    .flatMap((written) => [written, written.replaceAll('+', '-').replaceAll('/', '_')])
}

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')

/** Hexadecimal digits in upper case, as in `%2B` and `\u002B`. */
const upper = (written: string) => written.replace(/[\da-f]{2,}/g, (digits) => digits.toUpperCase())
