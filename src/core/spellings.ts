/** The families of encodings that a text from outside is read in: one decoder each, and where each character came from. */
import { isUtf8 } from 'node:buffer'
import { decodeHTML } from 'entities/decode'

/** A text after some decodings: where each of its UTF-16 units came from in the text as it was given. */
export interface Layer {
  readonly text: string
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  /** What looked like base64 or hexadecimal was decoded on suspicion: most of the text is noise then. */
  readonly isBytes: boolean
}

/** Bounds time and memory: this many characters are decoded for each of the text. */
const maxGrowth = 16
const minBudget = 20_000

/** A text as it was given. */
export function layerOf(text: string): Layer {
  const units = Array.from({ length: text.length }, (_, index) => index)
  return { text, starts: units, ends: units.map((index) => index + 1), isBytes: false }
}

/** A text, and what it may be when it is decoded, up to so many times one after the other: the likeliest first. */
export function decodedTexts(text: string, maxDecodings: number): readonly Layer[] {
  const queue = [{ layer: layerOf(text), decodings: 0 }]
  let budget = Math.max(minBudget, text.length * maxGrowth)
  for (const { layer, decodings } of queue) {
    if (decodings === maxDecodings) continue
    for (const decode of layer.isBytes ? [decodeEscapes, decodeBytes] : decoders) {
      const decoded = budget > 0 ? decode(layer) : undefined
      if (!decoded) continue
      budget -= decoded.text.length
      queue.push({ layer: decoded, decodings: decodings + 1 })
    }
  }
  return queue.map(({ layer }) => layer)
}

/** Collects a decoded text, piece by piece. */
function createDecoded({ starts, ends, ...from }: Layer, isBytes = from.isBytes) {
  const parts: string[] = []
  const next: { starts: number[]; ends: number[] } = { starts: [], ends: [] }
  /** Adds what the characters up to `end` stand for. */
  const put = (decoded: string, start: number, end: number) => {
    parts.push(decoded)
    for (let unit = 0; unit < decoded.length; unit++) {
      next.starts.push(starts[start] ?? 0)
      next.ends.push(ends[end - 1] ?? 0)
    }
  }
  return {
    put,
    /** Adds characters that stand for themselves. */
    copy(start: number, end: number) {
      parts.push(from.text.slice(start, end))
      for (let at = start; at < end; at++) {
        next.starts.push(starts[at] ?? 0)
        next.ends.push(ends[at] ?? 0)
      }
    },
    layer: (): Layer => ({ text: parts.join(''), ...next, isBytes }),
  }
}

type Decoded = ReturnType<typeof createDecoded>

/** Decodes each match of a pattern; `undefined` where there is none. */
function decodeMatches(layer: Layer, pattern: RegExp, decode: (match: RegExpExecArray, into: Decoded) => void) {
  const into = createDecoded(layer)
  let done = 0
  let isFound = false
  for (const match of layer.text.matchAll(pattern)) {
    isFound = true
    into.copy(done, match.index)
    decode(match, into)
    done = match.index + match[0].length
  }
  if (!isFound) return undefined
  into.copy(done, layer.text.length)
  return into.layer()
}

const aByte = /%[\da-fA-F]{2}|\\x[\da-fA-F]{2}|\\[0-3]?[0-7]{1,2}/
const eachByte = new RegExp(aByte, 'g')

/**
 * All that writes one character in another way: the URL encoding, the escapes of JSON and of scripts (`\x5a`, `\132`, `\u005a`,
 * `\u{5a}`, `\U0000005a`), HTML entities by name and number; and line breaks, which wrap a long value, and zero bytes, which are UTF-16
 * read as ASCII.
 */
const escapes = new RegExp(
  [
    `(?<bytes>(?:${aByte.source})+)`,
    '(?:\\\\u|%u)(?<unit>[\\da-fA-F]{4})',
    '\\\\(?:[ux]\\{0*(?<braced>[\\da-fA-F]{1,6})\\}|U00(?<long>[\\da-fA-F]{6}))',
    '(?<entity>&(?:#[xX][\\da-fA-F]+|#\\d+|[A-Za-z][A-Za-z\\d]{1,31});?)',
    '\\\\(?<escaped>[^uxU%&\\r\\n\\0])',
    '(?<nothing>\\r?\\n[ \\t]*|\\r|\\0)',
  ].join('|'),
  'g',
)

const letters: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }

/** A text with every escape decoded once; `undefined` where it has none. */
export const decodeEscapes = (layer: Layer): Layer | undefined =>
  decodeMatches(layer, escapes, ({ 0: whole, index, groups = {} }, into) => {
    if (groups.bytes === undefined) into.put(characterOf(whole, groups), index, index + whole.length)
    else putWritten([...whole.matchAll(eachByte)], index, into)
  })

/** Adds bytes of which each is written in characters of its own. */
function putWritten(written: readonly RegExpExecArray[], index: number, into: Decoded): void {
  const start = (at: number) => index + (written[at]?.index ?? 0)
  const end = (at: number) => start(at) + (written[at]?.[0].length ?? 0)
  putBytes(Buffer.from(written.map(byteOf)), into, { start, end })
}

const byteOf = ([written]: RegExpExecArray): number =>
  /^(%|=|\\x)/.test(written) ? Number.parseInt(written.slice(-2), 16) : Number.parseInt(written.slice(1), 8)

function characterOf(whole: string, groups: Readonly<Record<string, string | undefined>>): string {
  const { unit, braced, long, entity, escaped, nothing } = groups
  if (nothing !== undefined) return ''
  if (entity !== undefined) return decodeEntity(entity)
  if (escaped !== undefined) return letters[escaped] ?? escaped
  const code = Number.parseInt(unit ?? braced ?? long ?? '', 16)
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole
}

/** An entity as HTML reads it, but half of a surrogate pair stays one: some encoders write each unit of UTF-16. */
function decodeEntity(entity: string): string {
  const number = /^&#(?:x([\da-f]+)|(\d+))/i.exec(entity)
  const code = number?.[1] === undefined ? Number(number?.[2]) : Number.parseInt(number[1], 16)
  return code >= 0xd800 && code <= 0xdfff ? String.fromCharCode(code) : decodeHTML(entity)
}

/** The encoding of mails: `=5A`, and a line break after `=`. Apart from the others: `=` stands before many a value. */
const quotedPrintable = /(?:=[\dA-Fa-f]{2}|=\r?\n)+/g

const decodeQuotedPrintable = (layer: Layer): Layer | undefined =>
  decodeMatches(layer, quotedPrintable, ({ 0: whole, index }, into) =>
    putWritten([...whole.matchAll(/=[\dA-Fa-f]{2}/g)], index, into),
  )

/** Lines of a form whose indents, as blanks, are written `+`. Apart from the others, since a value may have a `+` there. */
const formIndents = /\r?\n[ \t]*\+[ \t+]*/g

const decodeFormIndents = (layer: Layer): Layer | undefined => decodeMatches(layer, formIndents, () => {})

/** Where in a text a byte stands: the first character that holds a bit of it, and the one after the last. */
interface BytePlaces {
  readonly start: (byte: number) => number
  readonly end: (byte: number) => number
}

/** Adds bytes as UTF-8, and as Latin-1 where they are none. */
function putBytes(bytes: Buffer, into: Decoded, { start, end }: BytePlaces): void {
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] ?? 0
    const length = lengthByLead(lead)
    const character = length === 1 ? undefined : bytes.subarray(at, at + length)
    const isWhole = character !== undefined && isUtf8(character)
    const last = at + (isWhole ? character.length : 1) - 1
    into.put(isWhole ? character.toString() : String.fromCharCode(lead), start(at), end(last))
    at = last + 1
  }
}

/** The bytes of a character of UTF-8, by its first one. */
function lengthByLead(lead: number): number {
  if (lead < 0xc0) return 1
  if (lead < 0xe0) return 2
  return lead < 0xf0 ? 3 : 4
}

/** One zero byte in so many pairs of bytes looks like UTF-16, in which Latin letters have one each. */
const pairsPerZero = 16

/** Adds bytes as UTF-16 where they look like it. What stands before it may have an odd number of bytes. */
function putUtf16(bytes: Buffer, into: Decoded, { start, end }: BytePlaces): void {
  for (const parity of [0, 1]) {
    const zeros = bytes.reduce((count, byte, at) => count + (byte === 0 && at % 2 === parity ? 1 : 0), 0)
    if (zeros * pairsPerZero * 2 < bytes.length) continue
    for (const first of [0, 1]) {
      // The zeros are the high bytes.
      const isBigEndian = first === parity
      for (let at = first; at + 1 < bytes.length; at += 2) {
        const code = isBigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at)
        into.put(String.fromCharCode(code), start(at), end(at + 1))
      }
      into.put(apart, 0, 0)
    }
  }
}

/** Long enough for a secret of four characters. */
const base64 = /[A-Za-z\d+/_-]{6,}/g
const hexadecimal = /[\dA-Fa-f]{2}(?:[ :-]?[\dA-Fa-f]{2}){3,}/g

/** Between two readings, so that no secret is found across. */
const apart = '\uffff'

/**
 * What looks like base64 or hexadecimal, read as UTF-8 and as UTF-16. Where a value begins within such a run is not known, so each place of
 * a group is tried.
 */
function decodeBytes(layer: Layer): Layer | undefined {
  const into = createDecoded(layer, true)
  let isFound = false
  const putReading = (bytes: Buffer, places: BytePlaces) => {
    isFound = true
    putBytes(bytes, into, places)
    into.put(apart, 0, 0)
    putUtf16(bytes, into, places)
  }
  for (const { 0: run, index } of layer.text.matchAll(base64)) {
    for (let first = index; first < index + 4; first++) {
      putReading(Buffer.from(run.slice(first - index), 'base64'), {
        start: (byte) => first + Math.floor((byte * 8) / 6),
        end: (byte) => first + Math.ceil(((byte + 1) * 8) / 6),
      })
    }
  }
  for (const { 0: run, index } of layer.text.matchAll(hexadecimal)) {
    const digits = Array.from(run.matchAll(/[^ :-]/g), (digit) => index + digit.index)
    const placeOf = (digit: number) => digits[digit] ?? index
    for (const first of [0, 1]) {
      putReading(Buffer.from(run.replaceAll(/[ :-]/g, '').slice(first), 'hex'), {
        start: (byte) => placeOf(first + 2 * byte),
        end: (byte) => placeOf(first + 2 * byte + 1) + 1,
      })
    }
  }
  return isFound ? into.layer() : undefined
}

const decoders = [decodeEscapes, decodeQuotedPrintable, decodeFormIndents, decodeBytes] as const
