import { figure } from './results.ts'
import { median } from './statistics.ts'
import type { Bar, Curve } from './suite.ts'

const width = 760
const ink = '#1f2328'
const faint = '#d0d7de'
const soft = '#656d76'
/** Ours first and strong, the others apart from each other also without colour, by their place or dashes. */
const colours = ['#0550ae', '#54aeff', '#bc4c00', '#6e7781', '#2da44e', '#8250df', '#bf3989'] as const
const dashes = ['', '', '7 3', '2 3', '9 3 2 3', '', ''] as const

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function text(x: number, y: number, words: string, more = ''): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${more}>${escaped(words)}</text>`
}

function picture(height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}"`,
    `  font-family="system-ui, sans-serif" font-size="13" fill="${ink}">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(16, 26, title, 'font-size="16" font-weight="600"'),
    ...parts,
    '</svg>\n',
  ].join('\n')
}

/** Bars from the left: the median as the bar, each run as a dot, the figure beside it. */
export function drawBars({ title, unit, bars }: { title: string; unit: string; bars: readonly Bar[] }): string {
  const [left, top, step, thick] = [230, 46, 34, 20]
  const room = width - left - 120
  const most = Math.max(...bars.flatMap(({ values }) => values))
  const parts = bars.flatMap(({ name, values }, index) => {
    const y = top + index * step
    const middle = median(values)
    const end = left + (middle / most) * room
    const colour = name.startsWith('ours') ? colours[0] : colours[3]
    return [
      text(left - 10, y + 15, name, 'text-anchor="end"'),
      `<rect x="${left}" y="${y}" width="${(end - left).toFixed(1)}" height="${thick}" fill="${colour}" fill-opacity="0.75"/>`,
      ...values.map(
        (value) =>
          `<circle cx="${(left + (value / most) * room).toFixed(1)}" cy="${y + thick / 2}" r="2.5" fill="${ink}"/>`,
      ),
      text(left + (Math.max(...values) / most) * room + 10, y + 15, figure(middle)),
    ]
  })
  const bottom = top + bars.length * step
  const key = text(left, bottom + 16, `${unit}: median as a bar, each run as a dot`, `fill="${soft}" font-size="12"`)
  return picture(bottom + 32, title, [...parts, key])
}

/** Milliseconds by percentile, both on scales that stretch the slow end. */
export function drawCurves(title: string, curves: readonly Curve[]): string {
  const [left, top, right, bottom] = [60, 46, width - 24, 330]
  const all = curves.flatMap(({ percentiles }) => Object.values(percentiles))
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...all)))
  const highest = 10 ** Math.ceil(Math.log10(Math.max(...all)))
  const nines = (percentile: number) => -Math.log10(1 - percentile / 100)
  const x = (percentile: number) => left + (nines(percentile) / 4) * (right - left)
  const y = (ms: number) => bottom - (Math.log10(ms / lowest) / Math.log10(highest / lowest)) * (bottom - top)
  const decades = Array.from(
    { length: Math.round(Math.log10(highest / lowest)) + 1 },
    (_, index) => lowest * 10 ** index,
  )
  const grid = [
    ...decades.flatMap((ms) => [
      `<line x1="${left}" x2="${right}" y1="${y(ms).toFixed(1)}" y2="${y(ms).toFixed(1)}" stroke="${faint}"/>`,
      text(left - 8, y(ms) + 4, `${Number(ms.toPrecision(1))} ms`, `text-anchor="end" fill="${soft}" font-size="12"`),
    ]),
    ...[50, 90, 99, 99.9, 99.99].flatMap((percentile) => [
      `<line x1="${x(percentile).toFixed(1)}" x2="${x(percentile).toFixed(1)}" y1="${top}" y2="${bottom}" stroke="${faint}"/>`,
      text(x(percentile), bottom + 18, `${percentile} %`, `text-anchor="middle" fill="${soft}" font-size="12"`),
    ]),
  ]
  const drawn = curves.flatMap(({ name, percentiles }, index) => {
    const points = Object.entries(percentiles)
      .map(([percentile, ms]): [number, number] => [Number(percentile), ms])
      .toSorted(([one], [other]) => one - other)
      .map(([percentile, ms]) => `${x(percentile).toFixed(1)},${y(ms).toFixed(1)}`)
    const stroke = `stroke="${colours[index % colours.length]}" stroke-width="2" stroke-dasharray="${dashes[index % dashes.length]}"`
    const keyY = bottom + 44 + Math.floor(index / 2) * 20
    const keyX = left + (index % 2) * 340
    return [
      `<polyline points="${points.join(' ')}" fill="none" ${stroke}/>`,
      `<line x1="${keyX}" x2="${keyX + 34}" y1="${keyY - 4}" y2="${keyY - 4}" ${stroke}/>`,
      text(keyX + 42, keyY, name),
    ]
  })
  return picture(bottom + 58 + Math.ceil(curves.length / 2) * 20, title, [...grid, ...drawn])
}
