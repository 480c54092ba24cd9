// Help texts within 80 columns: paragraphs, and entries with an explanation in a column beside a name.

const columns = 80

/** The lines of one entry: an option or a command. `width`: of the column with the names. */
export function helpEntry(name: string, width: number, about: string): string {
  const lines = fill(about, columns - width - 3)
  return lines.map((line, at) => `  ${(at === 0 ? name : '').padEnd(width)} ${line}`).join('\n')
}

/** The lines of a paragraph. */
export function fill(text: string, width = columns): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = [...lines.slice(-1), word].join(' ')
    if (lines.length > 0 && longer.length <= width) lines.splice(-1, 1, longer)
    else lines.push(word)
  }
  return lines
}
