/** Where one event stands in a body: bytes from `start` up to `end`. */
interface Slice {
  readonly start: number
  readonly end: number
}

/** What a body holds on its top level. `other`: neither object nor array. */
export type BodyShape =
  | { readonly kind: 'object' | 'array'; readonly slices: readonly Slice[] }
  | { readonly kind: 'tooMany' }
  | { readonly kind: 'other' }

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Finds the events of a JSON text without parsing it: one pass over the bytes, no recursion. Only bytes below 0x80 have a meaning
 * to it, so UTF-8 needs no decoding. A text that is no JSON gives some answer or other: whoever calls parses it as well.
 */
export function sliceBody(bytes: Uint8Array, maxEvents: number): BodyShape {
  const first = skipSpace(bytes, 0, bytes.length)
  if (bytes[first] === openBracket) return sliceArray(bytes, first, maxEvents)
  if (bytes[first] !== openBrace) return { kind: 'other' }
  return { kind: 'object', slices: [{ start: first, end: skipSpaceBack(bytes, first, bytes.length) }] }
}

function sliceArray(bytes: Uint8Array, open: number, maxEvents: number): BodyShape {
  const slices: Slice[] = []
  let depth = 0
  let start = open + 1
  for (let at = open + 1; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === openBrace || byte === openBracket) depth++
    else if (depth > 0) {
      if (byte === closeBrace || byte === closeBracket) depth--
    } else if (byte === comma || byte === closeBracket) {
      const from = skipSpace(bytes, start, at)
      if (from < at) {
        if (slices.length === maxEvents) return { kind: 'tooMany' }
        slices.push({ start: from, end: skipSpaceBack(bytes, from, at) })
      }
      if (byte === closeBracket) break
      start = at + 1
    }
  }
  return { kind: 'array', slices }
}

/** Index of the quote that closes the string opened at `open`, or the end of the text. */
function endOfString(bytes: Uint8Array, open: number): number {
  let at = open + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}

function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isSpace(bytes[at])) at++
  return at
}

function skipSpaceBack(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isSpace(bytes[at - 1])) at--
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
