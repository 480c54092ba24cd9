/** What is hidden in a text from outside before it is shown: our secrets however they are encoded, queries of URLs, tokens. */
import { oneLine } from '../support/text/text.ts'
import { decodedTexts, decodeEscapes, type Layer, layerOf } from './spellings.ts'

const maxLength = 1_000
/** A longer text is cut before it is looked through, between two words, so that no half of a secret stays. */
const maxRead = 20_000
const hidden = '(redacted)'

/** A shorter secret is hidden only where it stands alone: within words it would blot out ordinary ones. */
const minWithinWords = 4

/** Programs on the way encode what they echo, and some encode what is encoded already. */
const maxDecodings = 5

type Range = readonly [start: number, end: number]

/** `Authorization: Bearer ...`, `SharedAccessKey ...`, and tokens of Entra: nobody gave us those of others. */
const token =
  /(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)\s)[^\s"'<>,]{4,}|(?<![\w-])eyJ[\w-]{8,}\.[\w.-]+/gi

/** The query of a URL or of a path. */
const query = /(?<=[\w/.~-]\?)[^\s"'<>]+/g

/** Whole URLs: a pattern for the fragment alone would take quadratic time on a text with many URLs. */
const url = /https?:\/\/[^\s"'<>]*/gi

/**
 * Hides queries of URLs, tokens and the given secrets in a text, also where it is encoded: in a URL or a form, in JSON or a script, in
 * HTML, in hexadecimal, as base64, in UTF-16, several times over, and also where line breaks split it.
 *
 * Not found is a secret with a backslash that one encoding writes and another one's escape follows, all of it within JSON; one with a bare
 * backslash among escapes of scripts; one whose blank follows a line break, which counts as an indent.
 */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const needles = new Set(secrets.flatMap(needlesOf))
  needles.delete('')
  const ranges = decodedTexts(text, maxDecodings).flatMap((layer) => {
    const found = layer.isBytes ? [] : patternsIn(layer.text)
    // Within bytes that are decoded on suspicion a short secret is found by chance.
    const long = [...needles].filter((needle) => !layer.isBytes || needle.length >= minWithinWords)
    const plain = asForm(layer.text)
    found.push(...long.flatMap((needle) => placesOf(plain, needle)))
    return found.map(([start, end]): Range => [layer.starts[start] ?? 0, layer.ends[end - 1] ?? 0])
  })
  return replace(text, ranges)
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

/** A form writes a space as `+`: secrets and texts are compared without the difference. */
const asForm = (text: string) => text.replaceAll('+', ' ')

/** What to look for: a secret, which may look encoded itself and then is decoded with the text around it. */
function needlesOf(secret: string): string[] {
  const found: string[] = []
  for (let layer: Layer | undefined = layerOf(secret); layer && found.length <= maxDecodings; ) {
    found.push(asForm(layer.text))
    layer = decodeEscapes(layer)
  }
  // Who splits a form at each `=` gives the padding of a base64 key away, and a backslash at the end may escape what follows.
  return [...found, ...found.map((text) => text.replace(/(?:={1,2}|\\)$/, ''))]
}

function patternsIn(text: string): Range[] {
  const found: Range[] = []
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
