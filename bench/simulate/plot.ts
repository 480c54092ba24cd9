import type { Step } from './figures.ts'

const width = 760
const [left, right, top, rowHeight, gap] = [90, 740, 46, 60, 26]

interface Row {
  readonly label: string
  readonly values: readonly number[]
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const text = (x: number, y: number, words: string, more = '') =>
  `<text x="${x}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`

/** Draws what happened over time: one row for each figure, each on a scale of its own. */
export function drawScenario(title: string, steps: readonly Step[]): string {
  const share = ({ delivered, foreign, failed }: Step) => {
    const all = delivered + foreign + failed
    return all === 0 ? 0 : (100 * foreign) / all
  }
  const rows: readonly Row[] = [
    { label: 'writes', values: steps.map(({ writes }) => writes) },
    { label: 'reads', values: steps.map(({ reads, secretReads }) => reads + secretReads) },
    { label: 'throttled', values: steps.map(({ throttled }) => throttled) },
    { label: 'handshakes', values: steps.map(({ handshakes }) => handshakes) },
    { label: '503, % of deliveries', values: steps.map(share) },
    { label: 'oldest event, s', values: steps.map(({ oldestMs }) => oldestMs / 1_000) },
  ]
  const height = top + rows.length * (rowHeight + gap) + 30
  const lastMs = Math.max(1, steps.at(-1)?.atMs ?? 1)
  const x = (atMs: number) => left + (atMs / lastMs) * (right - left)
  const drawn = rows.flatMap(({ label, values }, index) => {
    const bottom = top + index * (rowHeight + gap) + rowHeight + 14
    const most = Math.max(1, ...values)
    const heights = values.map((value) => (bottom - (value / most) * rowHeight).toFixed(1))
    // Points within a level line draw nothing.
    const isBend = (at: number) => heights[at - 1] !== heights[at] || heights[at] !== heights[at + 1]
    const points = steps.flatMap(({ atMs }, at) => (isBend(at) ? [`${x(atMs).toFixed(1)},${heights[at]}`] : []))
    return [
      text(left, bottom - rowHeight - 5, label, 'font-size="12"'),
      text(left - 8, bottom - rowHeight + 8, `${Math.round(most)}`, 'font-size="11" fill="#656d76" text-anchor="end"'),
      text(left - 8, bottom, '0', 'font-size="11" fill="#656d76" text-anchor="end"'),
      `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="#d0d7de"/>`,
      `<polyline points="${points.join(' ')}" fill="none" stroke="#0550ae" stroke-width="1.5"/>`,
    ]
  })
  const minutes = Array.from({ length: Math.floor(lastMs / 600_000) + 1 }, (_, index) => index * 10)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}"`,
    '  font-family="system-ui, sans-serif" fill="#1f2328">',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(16, 26, title, 'font-size="15" font-weight="600"'),
    ...drawn,
    ...minutes.map((minute) =>
      text(x(minute * 60_000), height - 12, `${minute} min`, 'font-size="11" fill="#656d76" text-anchor="middle"'),
    ),
    '</svg>\n',
  ].join('\n')
}
