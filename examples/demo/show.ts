import { styleText } from 'node:util'

const out = process.stdout
// Nobody reads on, as behind `| head`. All that the demo has started ends with its process.
out.on('error', () => process.exit(0))
type Style = Parameters<typeof styleText>[0]

/** Colours a text where the output is a terminal that wants colour. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: out })

let steps = 0

/** A numbered headline: what happens now. */
export function step(text: string): void {
  steps += 1
  console.log(`\n${paint('bold', `${steps}. ${text}`)}`)
}

/** A line of detail under the headline. Prose fits into 80 columns. */
export function note(text: string): void {
  console.log(`   ${text}`)
}

/** Shows how far a long step is: one live line on a terminal, a line a quarter where output is piped. */
export function progress(label: string, total: number): (done: number) => void {
  const width = 32
  let quarter = 0
  return (done) => {
    const share = total === 0 ? 1 : done / total
    if (out.isTTY) {
      const filled = Math.round(share * width)
      const bar = paint('green', '█'.repeat(filled)) + paint('dim', '░'.repeat(width - filled))
      out.write(
        `\r   ${label} ${bar} ${String(done).padStart(String(total).length)}/${total}${done >= total ? '\n' : ''}`,
      )
    } else if (Math.floor(share * 4) > quarter) {
      quarter = Math.floor(share * 4)
      note(`${label} ${done}/${total}`)
    }
  }
}

const levels = '▁▂▃▄▅▆▇█'

/** A bar a value, as high as the value beside the greatest. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values)
  return values.map((value) => (value === 0 ? ' ' : levels[Math.ceil((value / most) * levels.length) - 1])).join('')
}

/** How values are spread from the least to the greatest: a bar a bucket, its height the number of values in it. */
export function histogram(values: readonly number[], buckets = 24): string {
  const [least, greatest] = [Math.min(...values), Math.max(...values)]
  const counts = new Array<number>(buckets).fill(0)
  for (const value of values) {
    const bucket = greatest === least ? 0 : Math.floor(((value - least) / (greatest - least)) * (buckets - 1))
    counts[bucket] = (counts[bucket] ?? 0) + 1
  }
  return values.length === 0 ? '' : sparkline(counts)
}

/** The value below which the given share of values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** A table with its columns lined up; the first to the left, the rest to the right. */
export function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
  for (const [index, row] of rows.entries()) {
    note(index === 0 ? paint('bold', line(row)) : line(row))
    if (index === 0) note(widths.map((width) => '─'.repeat(width)).join('  '))
  }
}
