// What is hidden in a text from outside before it is shown: our secrets in every spelling, queries of URLs, tokens.
import { oneLine } from '../support/text/text.ts'

const maxLength = 1_000
/** A longer text is cut before it is looked through, between two words, so that no half of a secret stays. */
const maxRead = 20_000
const hidden = '(redacted)'

/** A shorter secret is hidden only where it stands alone: within words it would blot out ordinary ones. */
const minWithinWords = 4

/** Programs on the way encode what they echo, and some encode what is encoded already. */
const maxDecodings = 5

/** A text after some decodings: where each of its UTF-16 units came from in the text as it was given. */
interface Layer {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

type Range = readonly [start: number, end: number]

/** The URL encoding, HTML entities, the escapes of JSON and of JavaScript, and line breaks, which wrap a long value. */
const encoded =
  /(?:%[\da-f]{2})+|&(?:#(?<decimal>\d{1,7})|#x(?<hex>[\da-f]{1,6})|(?<name>[a-z]{2,6}));|\\(?:u(?<unit>[\da-f]{4})|x(?<byte>[\da-f]{2})|(?<escaped>[^ux]))|(?<wrap>\r?\n[ \t]*)/gi

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  plus: '+',
  equals: '=',
  sol: '/',
  percnt: '%',
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** `Authorization: Bearer ...`, `SharedAccessKey ...`, and tokens of Entra: nobody gave us those of others. */
const token =
  /(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)\s)[^\s"'<>,]{4,}|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+/gi

/** The query of a URL or of a path. */
const query = /(?<=[\w/.~-]\?)[^\s"'<>]+/g

/** Whole URLs: a pattern for the fragment alone would take quadratic time on a text with many URLs. */
const url = /https?:\/\/[^\s"'<>]*/gi

/**
 * Hides queries of URLs, tokens and the given secrets in a text, also where it is encoded: in a URL or a form, in JSON, in HTML, in
 * hexadecimal, as base64, several times over, and also where line breaks split it.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  // A secret that looks encoded itself is decoded with the text around it.
  const needles = new Set(secrets.flatMap(layersOf).flatMap((layer) => spellings(layer.text)))
  needles.delete('')
  const ranges = layersOf(text).flatMap((layer) =>
    rangesIn(layer.text, needles).map(([start, end]): Range => [layer.starts[start] ?? 0, layer.ends[end - 1] ?? 0]),
  )
  return replace(text, ranges)
}

/**
 * Makes a text from outside fit to be shown: {@link hideSecrets}, turns line breaks into spaces, and cuts the text at 1,000
 * characters.
 */
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

/** A secret and how it looks in hexadecimal, and within base64, where it may begin at each of three places of a group. */
function spellings(secret: string): string[] {
  // Who splits a form at each `=` gives the padding of a base64 key away.
  const plain = [secret, secret.replaceAll(' ', '+'), secret.replace(/={1,2}$/, '')]
  if (secret.length < minWithinWords) return plain
  const within = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    // Only the characters that the secret alone decides.
    const text = bytes.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6))
    return [text, text.replaceAll('+', '-').replaceAll('/', '_')]
  })
  const hex = Buffer.from(secret).toString('hex')
  return [...plain, ...within, hex, hex.toUpperCase()]
}

function rangesIn(text: string, needles: ReadonlySet<string>): Range[] {
  const found: Range[] = [...needles].flatMap((needle) => placesOf(text, needle))
  for (const pattern of [token, query]) {
    for (const match of text.matchAll(pattern)) found.push([match.index, match.index + match[0].length])
  }
  for (const { 0: address, index } of text.matchAll(url)) {
    const end = address.search(/[?#]/)
    if (end !== -1) found.push([index + end + 1, index + address.length])
  }
  return found.filter(([start, end]) => end > start)
}

function placesOf(text: string, needle: string): Range[] {
  const found: Range[] = []
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    const end = at + needle.length
    const standsAlone = !/[a-z\d]/i.test(text.charAt(at - 1)) && !/[a-z\d]/i.test(text.charAt(end))
    if (needle.length >= minWithinWords || standsAlone) found.push([at, end])
  }
  return found
}

function layersOf(text: string): Layer[] {
  const units = Array.from({ length: text.length }, (_, index) => index)
  const layers: Layer[] = []
  let layer: Layer | undefined = { text, starts: units, ends: units.map((index) => index + 1) }
  for (; layer && layers.length <= maxDecodings; layer = decode(layer)) layers.push(layer)
  return layers
}

/** The text decoded once; `undefined` where nothing in it is encoded. */
function decode({ text, starts, ends }: Layer): Layer | undefined {
  const parts: string[] = []
  const next: { starts: number[]; ends: number[] } = { starts: [], ends: [] }
  let done = 0
  const copy = (until: number) => {
    parts.push(text.slice(done, until))
    for (let at = done; at < until; at++) put(at, at + 1, 1)
  }
  const put = (from: number, to: number, units: number) => {
    for (let unit = 0; unit < units; unit++) {
      next.starts.push(starts[from] ?? 0)
      next.ends.push(ends[to - 1] ?? 0)
    }
  }
  for (const match of text.matchAll(encoded)) {
    const { 0: whole, index, groups } = match
    copy(index)
    done = index + whole.length
    if (whole.startsWith('%')) {
      const bytes = Buffer.from(whole.replaceAll('%', ''), 'hex')
      let from = 0
      for (const character of bytes.toString()) {
        const size = Math.min(sizeOf(character, bytes, from), bytes.length - from)
        if (size === 0) continue
        parts.push(character)
        put(index + 3 * from, index + 3 * (from + size), character.length)
        from += size
      }
      continue
    }
    const character = characterOf(groups ?? {}) ?? whole
    parts.push(character)
    put(index, done, character.length)
  }
  if (done === 0) return undefined
  copy(text.length)
  return { text: parts.join(''), ...next }
}

/** The bytes of a character. The replacement character may stand for up to three that are not UTF-8, and for itself. */
function sizeOf(character: string, bytes: Buffer, from: number): number {
  if (character !== '\ufffd') return Buffer.byteLength(character)
  return [3, 2].find((size) => bytes.toString('utf8', from, from + size) === character) ?? 1
}

function characterOf(groups: Readonly<Record<string, string | undefined>>): string | undefined {
  const { decimal, hex, name, unit, byte, escaped, wrap } = groups
  if (wrap !== undefined) return ''
  if (name !== undefined) return entities[name.toLowerCase()]
  if (escaped !== undefined) return escapes[escaped] ?? escaped
  const code = decimal === undefined ? Number.parseInt(hex ?? unit ?? byte ?? '', 16) : Number(decimal)
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined
}

function replace(text: string, ranges: readonly Range[]): string {
  let shown = ''
  let done = 0
  for (const [start, end] of ranges.toSorted(([one], [other]) => one - other)) {
    // What overlaps or touches is hidden once.
    if (start > done || shown === '') shown += text.slice(done, start) + hidden
    done = Math.max(done, end)
  }
  return shown + text.slice(done)
}
