// The plots of counts and times.
import { byId, countOf, element, timeOf } from './elements.js'

const namespace = 'http://www.w3.org/2000/svg'
const margin = { top: 8, right: 6, bottom: 18, left: 34 }
const height = 132

function shape(name, attributes, text) {
  const made = document.createElementNS(namespace, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  if (text !== undefined) made.textContent = text
  return made
}

/** The next number of the form 1, 2 or 5 times a power of ten: the top of an axis. */
export function niceCeiling(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value) ?? value
}

/**
 * A plot of the last two minutes: lines over a common axis, with a legend that shows the latest numbers, or those of the second that
 * the pointer is on, or that the arrow keys went to.
 * `lines` are `{ field, label, tone, area, dashed }`; a point may lack a field, then the line has a gap.
 */
export function createPlot(id, { title, lines, least }) {
  const figure = byId(id)
  // A slider along time, for those who can't see or don't point: each step reads its second out.
  const svg = shape('svg', { role: 'slider', tabindex: 0, 'aria-label': title, 'aria-valuemin': 0, height })
  const values = new Map()
  const legend = element('ul', { class: 'quiet legend' })
  for (const { field, label, tone } of lines) {
    const value = element('b')
    values.set(field, value)
    legend.append(element('li', { 'data-tone': tone }, element('i'), `${label} `, value))
  }
  figure.querySelector('figcaption')?.append(legend)
  figure.append(svg)
  let series = []
  let pointed

  const widthOf = () => Math.max(figure.clientWidth - 24, 120)

  function draw() {
    const width = widthOf()
    const inner = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom }
    const largest = Math.max(least, ...series.flatMap((point) => lines.map(({ field }) => point[field] ?? 0)))
    const top = niceCeiling(largest)
    const x = (index) => margin.left + (inner.width * index) / Math.max(series.length - 1, 1)
    const y = (value) => margin.top + inner.height * (1 - value / top)
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    svg.setAttribute('width', String(width))

    const parts = []
    for (const value of [0, top / 2, top]) {
      parts.push(
        shape('line', { class: 'grid', x1: margin.left, x2: width - margin.right, y1: y(value), y2: y(value) }),
        shape(
          'text',
          { class: 'axis', x: margin.left - 6, y: y(value) + 3.5, 'text-anchor': 'end' },
          shortNumber(value),
        ),
      )
    }
    const baseline = height - 4
    const middle = series[Math.floor(series.length / 2)]
    const chosen = series[pointed]
    if (chosen) {
      const place = Math.min(Math.max(x(pointed), margin.left + 24), width - margin.right - 24)
      parts.push(
        shape('line', { class: 'pointer', x1: x(pointed), x2: x(pointed), y1: margin.top, y2: height - margin.bottom }),
        shape('text', { class: 'axis', x: place, y: baseline, 'text-anchor': 'middle' }, timeOf(chosen.at)),
      )
    } else if (middle) {
      parts.push(
        shape('text', { class: 'axis', x: margin.left, y: baseline }, timeOf(series[0].at)),
        shape(
          'text',
          { class: 'axis', x: x(series.length / 2), y: baseline, 'text-anchor': 'middle' },
          timeOf(middle.at),
        ),
        shape('text', { class: 'axis', x: width - margin.right, y: baseline, 'text-anchor': 'end' }, 'now'),
      )
    }
    for (const { field, tone, area, dashed } of lines) {
      for (const run of runs(series, field)) {
        const points = run.map((index) => `${x(index).toFixed(1)},${y(series[index][field]).toFixed(1)}`)
        if (area) {
          const ends = [`${x(run.at(-1)).toFixed(1)},${y(0)}`, `${x(run[0]).toFixed(1)},${y(0)}`]
          parts.push(shape('polygon', { class: 'area', 'data-tone': tone, points: [...points, ...ends].join(' ') }))
        }
        // A single second is a dot: a line of one point would not be seen.
        if (run.length > 1)
          parts.push(shape('polyline', { class: dashed ? 'dashed' : '', 'data-tone': tone, points: points.join(' ') }))
        else parts.push(shape('circle', { 'data-tone': tone, r: 1.8, cx: x(run[0]), cy: y(series[run[0]][field]) }))
      }
    }
    svg.replaceChildren(...parts)
    showValues()
  }

  function showValues() {
    const point = series[pointed ?? series.length - 1]
    for (const [field, value] of values) {
      const number = point?.[field]
      value.textContent = number === undefined ? '–' : countOf(number)
    }
    svg.setAttribute('aria-valuemax', String(Math.max(series.length - 1, 0)))
    svg.setAttribute('aria-valuenow', String(pointed ?? Math.max(series.length - 1, 0)))
    const numbers = lines.map(({ field, label }) => `${label} ${values.get(field).textContent}`)
    svg.setAttribute('aria-valuetext', point ? `${timeOf(point.at)}: ${numbers.join(', ')}` : 'nothing yet')
  }

  function pointAt(index) {
    pointed = index === undefined || series.length === 0 ? undefined : Math.min(Math.max(index, 0), series.length - 1)
    draw()
  }

  svg.addEventListener('pointermove', ({ offsetX }) => {
    const part = (offsetX - margin.left) / (widthOf() - margin.left - margin.right)
    pointAt(Math.round(part * (series.length - 1)))
  })
  svg.addEventListener('pointerleave', () => pointAt(undefined))
  svg.addEventListener('blur', () => pointAt(undefined))
  svg.addEventListener('keydown', (pressed) => {
    const last = series.length - 1
    const from = pointed ?? last
    const steps = {
      ArrowLeft: from - 1,
      ArrowRight: from + 1,
      PageUp: from + 10,
      PageDown: from - 10,
      Home: 0,
      End: last,
    }
    const index = steps[pressed.key]
    if (index === undefined && pressed.key !== 'Escape') return
    pressed.preventDefault()
    pointAt(index)
  })
  new ResizeObserver(draw).observe(figure)

  return {
    /** All points, oldest first. The last is the running second: it is not over, so its numbers are too small yet. */
    draw(points) {
      series = points.slice(0, -1)
      draw()
    },
  }
}

/** The indexes where a field has a value, in runs without a gap. */
function runs(series, field) {
  const found = []
  let run = []
  series.forEach((point, index) => {
    if (point[field] === undefined) {
      if (run.length > 0) found.push(run)
      run = []
    } else {
      run.push(index)
    }
  })
  return run.length > 0 ? [...found, run] : found
}

function shortNumber(value) {
  if (value >= 1000) return `${value / 1000}k`
  return String(Math.round(value * 10) / 10)
}
