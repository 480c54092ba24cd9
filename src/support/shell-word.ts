/** A word of a line to paste, quoted where a shell would not take it as it is: group names may hold parentheses. */
export function shellWord(word: string): string {
  return /^[\w./:@<>-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
