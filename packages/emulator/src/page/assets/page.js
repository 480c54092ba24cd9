// How the page starts, and which part uses which message of the stream.
import { readAddress } from './address.js'
import { byId, countOf, element, timeOf } from './elements.js'
import { createEventDialog } from './event-dialog.js'
import { createEventTable } from './events.js'
import { createPlot } from './plots.js'
import { createPublishForm } from './publish.js'
import { createResourceLists } from './resources.js'

// Puts the parts together and feeds them from the stream.

/** Pause before a new stream is asked for where the browser doesn't do it by itself, in milliseconds. */
const reconnectMs = 3000

/** How long the first answer may take before the page says what may be wrong, in milliseconds. */
const patienceMs = 5000

/** The emulator's clock less ours: it may have been moved by hand. */
let ahead = 0
const now = () => Date.now() + ahead

const connection = byId('connection')
const addresses = byId('addresses')
const leftOut = byId('left-out')
const trouble = byId('trouble')
const totals = [...document.querySelectorAll('[data-total]')]
const table = createEventTable({ now, open: (event) => dialog.show(event) })
/** What events can be published to. */
let topics = []
const dialog = createEventDialog({
  now,
  beside: table.beside,
  // An event of a domain's topic goes to the domain.
  topicOf: (topic) => topics.find(({ id }) => `${topic}/`.toLowerCase().startsWith(`${id}/`.toLowerCase()))?.name,
  edit: (topic, text) => form.edit(topic, text),
})

/** Opens the event that the page's address names: `#event=id`. */
function openNamed() {
  const { event: key } = readAddress()
  if (!key) return
  const event = table.find(Number(key))
  if (event) dialog.show(event)
  else dialog.showMissing(key)
}

const lists = createResourceLists()
const impatience = setTimeout(() => {
  showTrouble('No answer yet: a browser opens six connections to one address, so other windows may hold them all')
}, patienceMs)
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
let series = []

/** Whatever the counts were, they are not those of now. */
function showTrouble(text) {
  showConnection(text, 'bad')
  table.say(text)
}

function showConnection(text, tone) {
  // A screen reader announces a status whenever it is set.
  if (connection.textContent !== text) connection.textContent = text
  connection.dataset.tone = tone
  for (const total of totals) total.classList.toggle('old', tone !== 'ok')
}

function useFigures(figures) {
  // What it could not write is lost with it.
  trouble.hidden = figures.trouble === undefined
  trouble.textContent = figures.trouble ?? ''
  ahead = figures.now - Date.now()
  for (const total of totals) {
    const count = figures.totals[total.dataset.total] ?? 0
    total.textContent = countOf(count)
    total.classList.toggle('none', count === 0)
  }
  showLeftOut(figures.leftOut)
  const newest = figures.series
  series = [...series.filter(({ at }) => at < newest[0].at), ...newest].slice(-120)
  throughput.draw(series)
}

/** What is not in the list is counted: nobody looks for a failed event in vain. */
function showLeftOut({ events, failed, waiting }) {
  const parts = [
    ...(failed > 0 ? [`${countOf(failed)} failed`] : []),
    ...(waiting > 0 ? [`${countOf(waiting)} ${waiting === 1 ? 'waits' : 'wait'}`] : []),
  ]
  leftOut.hidden = events === 0
  leftOut.textContent =
    `${countOf(events)} more ${events === 1 ? 'is' : 'are'} left out` +
    `${parts.length > 0 ? `, of which ${parts.join(' and ')}` : ''}`
}

function useResources(resources) {
  lists.update(resources)
  topics = [
    ...resources.topics,
    ...resources.namespaceTopics.map((one) => ({ schema: 'CloudEventSchemaV1_0', ...one })),
  ]
  form.useTopics(topics)
  const [topic] = resources.topics
  if (topic) addresses.textContent = new URL(topic.endpoint).origin
}

/** Requests to publish that were refused, newest first. */
function showRefused(refused) {
  byId('refused-panel').hidden = refused.length === 0
  byId('refused').replaceChildren(
    ...refused.map(({ at, status, code = '', topic, message = '' }) =>
      element(
        'tr',
        {},
        element('td', { class: 'quiet time' }, timeOf(at)),
        element('td', { class: 'fate', 'data-tone': 'bad' }, `${status} ${code}`),
        element('td', { class: 'quiet' }, topic),
        element('td', { class: 'quiet' }, message),
      ),
    ),
  )
}

let stop = () => {}
let isFirst = true
addEventListener('hashchange', () => {
  table.followAddress()
  openNamed()
})

function connect() {
  const source = new EventSource('/emulator/stream')
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
    clearTimeout(impatience)
    showConnection('Live', 'ok')
    series = []
    useFigures(state)
    useResources(state)
    showRefused(state.refused)
    table.reset(state.events, state.limit)
    for (const { key } of state.events) dialog.refresh(key)
    if (isFirst) openNamed()
    isFirst = false
  })
  listen('events', (events) => {
    table.update(events)
    for (const { key } of events) dialog.refresh(key)
  })
  listen('gone', table.remove)
  listen('resources', useResources)
  listen('refused', showRefused)
  listen('figures', useFigures)
  listen('full', () => {
    clearTimeout(impatience)
    showTrouble('Sixteen pages are open, and the emulator serves no more: close one of them')
    later()
  })
  source.addEventListener('error', () => {
    clearTimeout(impatience)
    showTrouble('No connection to the emulator')
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
