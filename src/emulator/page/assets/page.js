// The start of the page: its parts, the live stream.
import { byId, countOf } from './elements.js'
import { createEventDialog } from './event-dialog.js'
import { createEventTable } from './events.js'
import { createPlot } from './plots.js'
import { createPublishForm } from './publish.js'
import { createResourceLists } from './resources.js'

// Puts the parts together and feeds them from the stream.

/** Pause before a new stream is asked for where the browser doesn't do it by itself, in milliseconds. */
const reconnectMs = 3000

/** The emulator's clock less ours: it may have been moved by hand. */
let ahead = 0
const now = () => Date.now() + ahead

const connection = byId('connection')
const addresses = byId('addresses')
const streamNote = byId('stream-note')
const totals = [...document.querySelectorAll('[data-total]')]
const dialog = createEventDialog(now)
const table = createEventTable({ now, open: dialog.show })
/** Opens the event that the page's address names: `#event=id`. */
function followAddress() {
  const id = new URLSearchParams(location.hash.slice(1)).get('event')
  const event = id && table.find(id)
  if (event) dialog.show(event)
}

const lists = createResourceLists()
const form = await createPublishForm()
const throughput = createPlot('throughput', {
  title: 'Events published and delivered, and pushes that failed, per second of the last two minutes',
  least: 5,
  lines: [
    { field: 'published', label: 'published', tone: 'accent', area: true },
    { field: 'delivered', label: 'delivered', tone: 'ok' },
    { field: 'failed', label: 'failed pushes', tone: 'bad', dashed: true },
  ],
})
const latency = createPlot('latency', {
  title: 'How long subscribers took to answer in the last two minutes, median and 95th percentile, in milliseconds',
  least: 5,
  lines: [
    { field: 'median', label: 'median', tone: 'accent', area: true },
    { field: 'p95', label: '95th percentile', tone: 'wait', dashed: true },
  ],
})
let series = []

function showConnection(text, tone) {
  // A screen reader announces a status whenever it is set.
  if (connection.textContent !== text) connection.textContent = text
  connection.dataset.tone = tone
}

function useFigures(figures) {
  ahead = figures.now - Date.now()
  for (const total of totals) {
    const count = figures.totals[total.dataset.total] ?? 0
    total.textContent = countOf(count)
    total.classList.toggle('none', count === 0)
  }
  const newest = figures.series
  series = [...series.filter(({ at }) => at < newest[0].at), ...newest].slice(-120)
  throughput.draw(series)
  latency.draw(series)
  const { missed } = figures.stream
  streamNote.hidden = missed === 0
  streamNote.textContent = `${countOf(missed)} messages did not reach a page that was too slow; it was brought up to date later.`
}

function useResources(resources) {
  lists.update(resources)
  form.useTopics(resources.topics)
  const [topic] = resources.topics
  if (topic) addresses.textContent = new URL(topic.endpoint).origin
}

let stop = () => {}
let isFirst = true
addEventListener('hashchange', followAddress)

function connect() {
  const source = new EventSource('/page/stream')
  let again
  stop = () => {
    source.close()
    clearTimeout(again)
  }
  const listen = (name, use) => source.addEventListener(name, ({ data }) => use(JSON.parse(data)))
  const later = () => {
    source.close()
    again = setTimeout(connect, reconnectMs)
  }
  listen('state', (state) => {
    showConnection('Live', 'ok')
    series = []
    useFigures(state)
    useResources(state)
    table.reset(state.events)
    for (const { key } of state.events) dialog.refresh(key)
    if (isFirst) followAddress()
    isFirst = false
  })
  listen('events', (events) => {
    table.update(events)
    for (const { key } of events) dialog.refresh(key)
  })
  listen('resources', useResources)
  listen('figures', useFigures)
  listen('full', () => {
    showConnection('Too many pages are open', 'bad')
    later()
  })
  source.addEventListener('error', () => {
    showConnection('No connection to the emulator', 'bad')
    if (source.readyState === EventSource.CLOSED) later()
  })
}

connect()
// A browser opens six connections to a host and no more, so pages in the background must not hold theirs.
document.addEventListener('visibilitychange', () => {
  stop()
  if (!document.hidden) connect()
})
setInterval(() => {
  table.tick()
  dialog.tick()
}, 1000)
