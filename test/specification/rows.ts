// The table of specification.md as data.
/** A row of the table: a sentence, the test that shows it, and the change of one line of `src` that turns the test red. */
export interface Row {
  readonly section: string
  readonly sentence: string
  readonly test: string
  readonly file: string
  readonly before: string
  readonly after: string
}

const rowShape =
  /^\| (?<section>[\d.]+) \| (?<sentence>.+) \| (?<test>.+) \| `(?<file>[^`]+)`: `(?<before>[^`]+)` → `(?<after>[^`]*)` \|$/

export function readRows(text: string): Row[] {
  const rows: Row[] = []
  for (const line of text.split('\n')) {
    if (!/^\| \d.*→/.test(line)) continue
    const { section, sentence, test, file, before, after } = rowShape.exec(line)?.groups ?? {}
    if (!section || !sentence || !test || !file || before === undefined || after === undefined) {
      throw new Error(`test/specification/specification.md: this row is not of the form the script reads:\n${line}`)
    }
    // A bar inside a table's cell is written \|.
    rows.push({
      section,
      sentence,
      test,
      file,
      before: before.replaceAll('\\|', '|'),
      after: after.replaceAll('\\|', '|'),
    })
  }
  return rows
}
