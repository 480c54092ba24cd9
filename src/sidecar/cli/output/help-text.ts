// Help texts wrapped at 80 columns: paragraphs filled, options with their explanation in a column beside them.

const columns = 80

/** What a line begins with: the name of an option or a command, and the gap before its explanation. */
const entry = /^ {2}\S.*? {2,}(?=\S)|^ {2}-\S+ \S+ (?=[a-z])/

/**
 * Wraps a help text (pure). Lines that follow each other are one paragraph, unless a line begins with a label (`Options:`). A line that is
 * indented by two is an entry, which further indented lines go on with; without a gap in it, it is one to paste and stays as it is.
 */
export function wrapHelp(text: string): string {
  const blocks: { start: string; words: string }[] = []
  let before = ''
  for (const line of text.split('\n')) {
    const last = blocks.at(-1)
    const start = entry.exec(line)?.[0] ?? ''
    const goesOn =
      last !== undefined && (/^ {6,}\S/.test(line) || (isProse(line) && isProse(before) && !/^[A-Z][\w ]*:/.test(line)))
    if (goesOn) last.words += ` ${line.trim()}`
    else blocks.push({ start, words: line.slice(start.length) })
    before = line
  }
  return blocks.map(filled).join('\n')
}

const isProse = (line: string) => /^\S/.test(line) && !line.startsWith('Usage:') && !line.endsWith(':')

function filled({ start, words }: { readonly start: string; readonly words: string }): string {
  if (words.startsWith(' ')) return words
  const indent = ' '.repeat(start.length)
  const lines = [start]
  for (const word of words.split(/ +/)) {
    const last = lines.at(-1) ?? ''
    const isEmpty = last === start || last === indent
    if (!isEmpty && last.length + 1 + word.length > columns) lines.push(`${indent}${word}`)
    else lines[lines.length - 1] = isEmpty ? `${last}${word}` : `${last} ${word}`
  }
  return lines.join('\n')
}
