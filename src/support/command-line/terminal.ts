/** Output for a terminal: prose in lines that fit, colours, a live line, and no control characters of others. */
import { printable } from '../text/text.ts'

export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** A part of a line, and its meaning, which chooses the colour. */
export interface LinePart {
  readonly text: string
  /** @default plain */
  readonly tone?: 'good' | 'warning' | 'bad' | 'faint' | 'plain' | undefined
}

/** Codes of ECMA-48 (SGR). */
const colours = { good: '32', warning: '33', bad: '31', faint: '2', plain: '' } as const

/** Lines, and on a terminal one more below them that is always up to date. */
export type Terminal = ReturnType<typeof createTerminal>

/** Makes a function that colours a text by its tone, where there are colours. @param colour as of {@link createTerminal} */
export function painter(out: Pick<OutputStream, 'isTTY'>, colour = wantsColour(out)) {
  return (text: string, tone: LinePart['tone'] = 'plain'): string =>
    colour && colours[tone] !== '' && text !== '' ? `\x1b[${colours[tone]}m${text}\x1b[0m` : text
}

const startOver = '\r\x1b[K'

/**
 * Writes to a stream. What others sent, such as an error's text, can't move the cursor:
 * control characters are left out.
 *
 * @param colour @default on a terminal, unless NO_COLOR is set or TERM is dumb
 */
export function createTerminal(out: OutputStream, colour = wantsColour(out)) {
  const live = isSmart(out)
  let shown = ''
  const write = (line: string) => void out.write(shown === '' ? `${line}\n` : `${startOver}${line}\n${shown}`)
  const painted = painter(out, colour)
  return {
    /** Whether there is a live line: on a terminal that can clear a line. */
    live,
    /** A line of prose. */
    line: (text: string) => write(wrapFor(out, printable(text), { indent: text.search(/\S|$/) + hanging })),
    /** A line that stays as it is: for programs, or of names and values. */
    data: (text: string) => write(printable(text)),
    /** A line of parts, in colours where the terminal has them. The last one is prose, and stays in its column. */
    parts(parts: readonly LinePart[]) {
      const texts = parts.map(({ text }) => printable(text))
      const last = texts.pop() ?? ''
      const column = texts.join('').length
      const indent = column + last.search(/\S|$/) + (column === 0 ? hanging : 0)
      texts.push(wrapFor(out, last, { column, indent }))
      write(parts.map(({ tone }, at) => painted(texts[at] ?? '', tone)).join(''))
    },
    /** Replaces the live line; without one it has no effect. */
    update(text: string) {
      if (!live) return
      // A line that wraps could not be taken back. Some terminals don't know their width, and say 0.
      shown = printable(text).slice(0, Math.max((out.columns || 80) - 1, 1))
      out.write(`${startOver}${shown}`)
    },
    finish() {
      if (shown !== '') out.write(startOver)
      shown = ''
    },
  }
}

/** https://no-color.org */
function wantsColour(out: Pick<OutputStream, 'isTTY'>): boolean {
  return isSmart(out) && !process.env.NO_COLOR
}

/** A terminal that knows control codes. */
function isSmart({ isTTY }: Pick<OutputStream, 'isTTY'>): boolean {
  return isTTY === true && process.env.TERM !== 'dumb'
}

const ours = 'eventgrid-binding|eventgrid-emulator'

/** The programs that commands in our texts begin with. `eventgrid-binding check: …` is not a command but the prefix of an error message. */
const programs = `az|curl|dig|(?:${ours})(?! \\w+:)|export|node|npm|npx|openssl|sudo`

/**
 * A word with the spaces before it. A shell command counts as one word, so that it can be copied: it begins with the name of a program at
 * the start of the line, after a colon or after `name="`, and goes to the end of the line. Within a sentence the name of our program and
 * its command, such as `eventgrid-binding check`, are one word.
 */
const words = new RegExp(
  `( *)((?:(?<=^ *|: )|\\w+=")(?:${programs}) .*|[("]?(?:npx )?(?:${ours}) (?:--)?[a-z]+[^ ]*|[^ ]+)`,
  'g',
)

/** Spaces by which what follows the first line is indented where nothing gives it a column. */
export const hanging = 2

export interface WrapOptions {
  /** Columns of a line; one longer word stays whole and is too long. */
  readonly width: number
  /** Columns of the first line that are taken. @default 0 */
  readonly column?: number
  /** Spaces before each further line, at most half of the width. @default as `column` */
  readonly indent?: number
}

/** The text of one line, with line breaks. */
export function wrap(text: string, { width, column = 0, indent = column }: WrapOptions): string {
  const margin = Math.min(indent, Math.floor(width / 2))
  let at = column
  return text.replace(words, (all, _, word: string) => {
    const isTooLong = at > margin && at + all.length > width
    at = isTooLong ? margin + word.length : at + all.length
    return isTooLong ? `\n${' '.repeat(margin)}${word}` : all
  })
}

/** As {@link wrap}, where people read the text in a terminal that knows its width. In pipes, files and CI a line is a line. */
export function wrapFor(
  { isTTY = false, columns = 0 }: { readonly isTTY?: boolean; readonly columns?: number },
  text: string,
  options: Omit<WrapOptions, 'width'> = {},
): string {
  return isTTY && columns > 0 && !process.env.CI ? wrap(text, { ...options, width: columns }) : text
}
