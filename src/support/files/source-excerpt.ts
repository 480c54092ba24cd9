/** The line of a YAML file with a caret under a fault, without secrets and comments. */
import { printable } from '../text/text.ts'
import type { LocatedDocument, LocatedScalar, Span, YamlPlace } from './located-yaml.ts'

export interface ExcerptOptions {
  /** What the text was read to; none where it could not be read. */
  readonly documents: readonly LocatedDocument[]
  /** May this key or value be shown? All others are masked. */
  readonly isShown: (scalar: LocatedScalar, document: LocatedDocument) => boolean
  /** Words that may be shown outside of keys and values: in a text that could not be read. */
  readonly words: ReadonlySet<string>
  /** Columns that fit; a longer line is cut around the place. */
  readonly maxWidth: number
}

const mask = '***'
/** Characters of a line that are looked at, on each side of the place. No terminal is wider. */
const reach = 1_000

/**
 * The line of a place in a YAML text, and a second line with a caret under it. Punctuation is shown, and what is known
 * to be no secret; all else becomes `***`. A comment, which may hold a secret, is left out.
 *
 * @example
 *   12 |   value: 9000
 *      |          ^
 */
export function drawExcerpt(text: string, { line, column }: YamlPlace, options: ExcerptOptions): string {
  const start = startOfLine(text, line)
  const newline = text.indexOf('\n', start)
  const end = newline === -1 ? text.length : newline
  const offset = Math.min(start + Math.max(column, 1) - 1, end)
  const near = { start: Math.max(start, offset - reach), end: Math.min(end, offset + reach) }
  const masked = maskLine(text, near, offset, options)
  const number = String(line)
  // The caret may stand behind the last character.
  const { shown, caret } = cutAround(masked, Math.max(options.maxWidth - number.length - 6, 20))
  return `  ${number} | ${shown}\n  ${' '.repeat(number.length)} | ${' '.repeat(caret)}^`
}

function startOfLine(text: string, line: number): number {
  const before = text.split('\n', line - 1)
  return before.reduce((start, passed) => start + passed.length + 1, 0)
}

interface MaskedLine {
  readonly shown: string
  readonly caret: number
}

/** Replaces what may not be shown. The place moves with the text before it. */
function maskLine(text: string, range: Span, offset: number, options: ExcerptOptions): MaskedLine {
  const { documents, isShown, words } = options
  const scalars = documents.flatMap((document) =>
    document
      .scalars()
      .filter(({ span }) => span.start < range.end && span.end > range.start)
      .map((scalar) => ({ ...scalar.span, isHidden: !isShown(scalar, document) })),
  )
  let line = ''
  let caret: number | undefined
  for (let at = range.start; at < range.end; ) {
    const from = at
    const scalar = scalars.find(({ start, end }) => start <= from && from < end)
    if (!scalar && isComment(text, from)) break
    const word = scalar ? undefined : /^[^\s,:{}[\]"'#|>&*!?-][^\s,:{}[\]"']*/.exec(text.slice(from, range.end))?.[0]
    const to = Math.min(scalar?.end ?? from + (word?.length ?? 1), range.end)
    const isHidden = scalar ? scalar.isHidden : word !== undefined && !words.has(word)
    const part = isHidden ? mask : text.slice(from, to)
    if (caret === undefined && offset < to) caret = line.length + Math.min(offset - from, part.length)
    line += part
    at = to
  }
  // Tabs and control characters would move the caret away from its place.
  const shown = printable(line).trimEnd()
  return { shown, caret: caret ?? shown.length }
}

/** Does a comment begin here, outside of keys and values? */
const isComment = (text: string, at: number) => text[at] === '#' && (at === 0 || /\s/.test(text[at - 1] ?? ''))

/** Cuts a line so that its place stays in view. */
function cutAround({ shown, caret }: MaskedLine, width: number): MaskedLine {
  if (shown.length <= width) return { shown, caret: Math.min(caret, width) }
  const from = Math.max(0, Math.min(caret - Math.floor(width / 2), shown.length - width))
  const before = from > 0 ? '…' : ''
  const after = from + width < shown.length ? '…' : ''
  const part = shown.slice(from + before.length, from + width - after.length)
  return { shown: `${before}${part}${after}`, caret: caret - from }
}
