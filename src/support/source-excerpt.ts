import type { Place, Span } from './located-yaml.ts'

/** How an excerpt is drawn. */
export interface ExcerptOptions {
  /** Values that may be shown, by their ranges in the text. */
  readonly shown: readonly Span[]
  /** Ranges that are hidden as a whole, such as a secret of several words. */
  readonly hidden: readonly Span[]
  /** Words that may be shown wherever they are, such as the names of fields. */
  readonly words: ReadonlySet<string>
  /** Columns that fit; a longer line is cut around the place. */
  readonly maxWidth: number
}

const mask = '***'
/** Characters of a line that are looked at, on each side of the place. No terminal is wider. */
const reach = 1_000

/**
 * The line of a place in a text, and a second line with a caret under it. Shows the words and ranges that it is told to, and punctuation; all else could be
 * secret and becomes `***`.
 *
 * @example
 *   12 |   value: 9000
 *      |          ^
 */
export function drawExcerpt(text: string, { line, column }: Place, options: ExcerptOptions): string {
  const start = startOfLine(text, line)
  const end = /\r?\n|$/g
  end.lastIndex = start
  const stop = end.exec(text)?.index ?? text.length
  const offset = Math.min(start + Math.max(column, 1) - 1, stop)
  const near = { start: Math.max(start, offset - reach), end: Math.min(stop, offset + reach) }
  const masked = maskLine(text, near, offset, options)
  const number = String(line)
  const { shown, caret } = cutAround(masked, Math.max(options.maxWidth - number.length - 5, 20))
  return `  ${number} | ${shown}\n  ${' '.repeat(number.length)} | ${' '.repeat(caret)}^`
}

function startOfLine(text: string, line: number): number {
  let start = 0
  for (let passed = 1; passed < line; passed++) {
    const next = text.indexOf('\n', start)
    if (next === -1) return text.length
    start = next + 1
  }
  return start
}

interface MaskedLine {
  readonly shown: string
  /** The column of the place, from 0. */
  readonly caret: number
}

/** Replaces what may not be shown. The place moves with the text before it. */
function maskLine(text: string, range: Span, offset: number, { shown, hidden, words }: ExcerptOptions): MaskedLine {
  const overlaps = ({ start, end }: Span) => start < range.end && end > range.start
  const [open, secret] = [shown.filter(overlaps), hidden.filter(overlaps)]
  let line = ''
  let caret: number | undefined
  const add = (part: string, from: number, to: number) => {
    if (caret === undefined && offset < to) caret = line.length + Math.min(offset - from, part.length)
    line += part
  }
  let at = range.start
  while (at < range.end) {
    const here = at
    const inRange = ({ start, end }: Span) => start <= here && here < end
    const hide = secret.find(inRange)
    const show = hide ? undefined : open.find(inRange)
    const word =
      hide || show ? undefined : /^[^\s,:{}[\]"'#|>&*!?-][^\s,:{}[\]"']*/.exec(text.slice(here, range.end))?.[0]
    const to = Math.min(hide?.end ?? show?.end ?? here + (word?.length ?? 1), range.end)
    const part = text.slice(here, to)
    const isMasked = hide !== undefined || (word !== undefined && !words.has(word))
    add(isMasked ? mask : part, here, to)
    at = to
  }
  // Tabs and control characters would move the caret away from its place.
  return { shown: line.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' '), caret: caret ?? line.length }
}

/** Cuts a line so that its place stays in view. */
function cutAround({ shown, caret }: MaskedLine, width: number): MaskedLine {
  if (shown.length <= width) return { shown, caret: Math.min(caret, width) }
  const from = Math.max(0, Math.min(caret - Math.floor(width / 2), shown.length - width))
  const before = from > 0 ? '…' : ''
  const after = from + width < shown.length ? '…' : ''
  const part = shown.slice(from + before.length, from + width - after.length)
  return { shown: `${before}${part}${after}`, caret: caret - from }
}
