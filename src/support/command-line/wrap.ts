/** Prose is broken at spaces to fit a width; commands, addresses and other words stay whole. */

const ours = 'eventgrid-binding|eventgrid-emulator'

/** What the commands in our texts begin with. Before a colon it is this program's name before a complaint. */
const programs = `az|curl|dig|(?:${ours})(?! \\w+:)|export|node|npm|npx|openssl|sudo`

/**
 * A word with the spaces before it. A command is one word: from the name of a program that begins the line, follows a colon or begins
 * a quoted value, to the end of the line. In a sentence this program's name keeps its command's.
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

/** The same where people read it in a terminal that knows its width. In pipes, files and CI a line is a line. */
export function wrapFor(
  { isTTY = false, columns = 0 }: { readonly isTTY?: boolean; readonly columns?: number },
  text: string,
  options: Omit<WrapOptions, 'width'> = {},
): string {
  return isTTY && columns > 0 && !process.env.CI ? wrap(text, { ...options, width: columns }) : text
}
