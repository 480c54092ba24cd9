// How counts per second are drawn.
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
 * A plot of the last two minutes: lines over a common axis, with a legend that shows the latest numbers. `lines` are
 * `{ field, label, tone, area, dashed }`.
 */
export function createPlot(id, { title, lines, least }) {
  const figure = byId(id)
  const svg = shape('svg', { role: 'img', 'aria-label': title, height })
  const values = new Map()
  const legend = element('ul', { class: 'quiet legend' })
  for (const { field, label, tone } of lines) {
    const value = element('b')
    values.set(field, value)
    legend.append(element('li', { 'data-tone': tone }, element('i'), `${label} `, value))
  }
  figure.append(legend, svg)
  let series = []

  function draw() {
    const width = Math.max(figure.clientWidth, 120)
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
    if (middle) {
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
      const points = series.map((point, index) => `${x(index).toFixed(1)},${y(point[field] ?? 0).toFixed(1)}`)
      const ends = [`${x(series.length - 1).toFixed(1)},${y(0)}`, `${x(0).toFixed(1)},${y(0)}`]
      if (area)
        parts.push(shape('polygon', { class: 'area', 'data-tone': tone, points: [...points, ...ends].join(' ') }))
      parts.push(shape('polyline', { class: dashed ? 'dashed' : '', 'data-tone': tone, points: points.join(' ') }))
    }
    svg.replaceChildren(...parts)
    const latest = series.at(-1)
    for (const [field, value] of values) value.textContent = latest ? countOf(latest[field] ?? 0) : '–'
  }

  new ResizeObserver(draw).observe(figure)

  return {
    /** All points, oldest first. The last is the running second: it is not over, so its numbers are too small yet. */
    draw(points) {
      series = points.slice(0, -1)
      draw()
    },
  }
}

function shortNumber(value) {
  if (value >= 1000) return `${value / 1000}k`
  return String(Math.round(value * 10) / 10)
}
