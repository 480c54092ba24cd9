// Which rows the table of events has, and what search, pause and export do.
import { byId, countOf, element, lastPart, timeOf } from './elements.js'
import { fateElement, tickFates } from './fates.js'
import { createFilters } from './filters.js'

/** The table of events. `now` is the emulator's time; `open` is called for the event whose row is chosen. */
export function createEventTable({ now, open }) {
  const body = byId('events')
  const empty = byId('no-events')
  const matches = byId('matches')
  const pause = byId('pause')
  const exporting = byId('export')
  /** By key, in no order. */
  const rows = new Map()
  /** What came while the reader asked for quiet, by key. */
  const held = new Map()
  /** Keys of events that are no longer stored, while the reader asked for quiet. */
  const gone = new Set()
  let paused = false
  /** The most events, which the emulator says. */
  let limit = 300
  /** Keys of the events whose bodies hold the text that is searched for. */
  let found = new Set()
  let asking = false
  let stale = false

  function refilter() {
    for (const { event, row } of rows.values()) row.hidden = !filters.matches(event, found)
    tidy()
  }

  const filters = createFilters(() => {
    found = new Set()
    refilter()
    search()
  })

  function makeRow(event) {
    const button = element('button', { type: 'button', class: 'link' }, event.type || '(no type)')
    const fates = element('div', { class: 'fates' })
    const row = element(
      'tr',
      { 'data-key': String(event.key) },
      element('td', { class: 'quiet time' }, timeOf(event.at)),
      element('td', {}, button, element('span', { class: 'quiet line' }, event.subject || event.id)),
      element('td', { class: 'quiet source' }, element('span', { class: 'line' }, event.source)),
      element('td', { class: 'quiet topic' }, element('span', { class: 'line' }, lastPart(event.topic))),
      element('td', { class: 'outcome' }, fates),
    )
    const entry = { event, row, fates, text: '' }
    // The button is for the keyboard and for screen readers; a mouse may take the whole row, unless it has just marked some text of it.
    row.addEventListener('click', ({ target }) => {
      if (button.contains(target) || !getSelection()?.containsNode(row, true) || getSelection()?.isCollapsed) {
        open(entry.event)
      }
    })
    return entry
  }

  function put(event) {
    const text = JSON.stringify(event)
    let known = rows.get(event.key)
    if (known?.text === text) return
    // Another emulator counts from the beginning: its events are not those of the former one.
    if (known && (known.event.at !== event.at || known.event.id !== event.id)) {
      drop(event.key)
      known = undefined
    }
    const entry = known ?? makeRow(event)
    entry.event = event
    entry.text = text
    entry.fates.replaceChildren(...fateElements(event))
    entry.row.hidden = !filters.matches(event, found)
    if (known) return
    rows.set(event.key, entry)
    let next = body.firstElementChild
    while (next && Number(next.dataset.key) > event.key) next = next.nextElementSibling
    body.insertBefore(entry.row, next)
  }

  function fateElements({ fates, further = 0 }) {
    if (fates.length === 0) return [element('span', { class: 'quiet' }, 'no event subscription matches')]
    const more = further > 0 ? [element('span', { class: 'quiet' }, `and ${countOf(further)} more`)] : []
    return [...fates.map((fate) => fateElement(fate, now())), ...more]
  }

  function drop(key) {
    rows.get(key)?.row.remove()
    rows.delete(key)
  }

  const shown = () => [...rows.values()].filter(({ row }) => !row.hidden)

  function tidy() {
    const count = shown().length
    empty.hidden = count > 0
    empty.textContent =
      rows.size > 0 ? 'No event matches.' : 'No events yet. Publish one with the form, or to a topic’s endpoint.'
    matches.textContent = filters.isActive() ? `${countOf(count)} of ${countOf(rows.size)} match` : ''
    exporting.disabled = count === 0
    // The first row is the newest, and no row comes while the table is held.
    const newest = Number(body.firstElementChild?.dataset.key ?? 0)
    const fresh = [...held.keys()].filter((key) => key > newest).length
    pause.textContent = !paused ? 'Pause' : fresh > 0 ? `Resume (${countOf(fresh)} new)` : 'Resume'
    pause.setAttribute('aria-pressed', String(paused))
  }

  function update(events) {
    filters.offer(events)
    // Oldest first, so that each new row finds its place at the top.
    for (const event of events.toReversed()) {
      gone.delete(event.key)
      if (paused) held.set(event.key, event)
      else put(event)
    }
    for (const key of held.size > limit ? [...held.keys()].sort((a, b) => a - b).slice(0, -limit) : []) held.delete(key)
    while (rows.size > limit && body.lastElementChild) drop(Number(body.lastElementChild.dataset.key))
    tidy()
    if (events.length > 0) search()
  }

  /** Asks for the events whose bodies hold the text: the bodies are not on the page. At most one question is under way. */
  async function search() {
    const text = filters.text()
    stale = asking
    if (asking) return
    if (text === '') {
      found = new Set()
      return
    }
    asking = true
    const answer = await fetch(`/emulator/search?text=${encodeURIComponent(text)}`).catch(() => undefined)
    if (answer?.ok) found = new Set((await answer.json()).keys)
    asking = false
    refilter()
    if (stale) await search()
  }

  pause.addEventListener('click', () => {
    paused = !paused
    const waiting = [...held.values()].sort((one, other) => other.key - one.key)
    held.clear()
    if (!paused) for (const key of gone) drop(key)
    gone.clear()
    update(paused ? [] : waiting)
  })
  exporting.addEventListener('click', async () => {
    const keys = new Set(shown().map(({ event }) => event.key))
    const answer = await fetch('/emulator/events').catch(() => undefined)
    if (!answer?.ok) return
    const { events } = await answer.json()
    const wanted = events.filter(({ key }) => keys.has(key)).toReversed()
    const href = URL.createObjectURL(new Blob([JSON.stringify(wanted)], { type: 'application/json' }))
    element('a', { href, download: 'events.json' }).click()
    URL.revokeObjectURL(href)
  })

  return {
    update,
    /** These are no longer stored. */
    remove(keys) {
      for (const key of keys) {
        held.delete(key)
        if (paused) gone.add(key)
        else drop(key)
      }
      tidy()
    },
    find: (key) => rows.get(key)?.event,
    /** The event beside another among those that are shown: `up` or `down`. */
    beside(key, direction) {
      const keys = shown().map(({ event }) => event.key)
      const next =
        direction === 'up' ? Math.min(...keys.filter((one) => one > key)) : Math.max(...keys.filter((one) => one < key))
      return rows.get(next)?.event
    },
    /** Replaces all events. */
    reset(events, most) {
      limit = most
      if (!paused) {
        const kept = new Set(events.map(({ key }) => key))
        for (const key of [...rows.keys()]) if (!kept.has(key)) drop(key)
      }
      update(events)
    },
    /** The address has changed. */
    followAddress() {
      filters.take()
      refilter()
      search()
    },
    /** Says why there are no events. */
    say(text) {
      if (rows.size === 0) empty.textContent = text
    },
    tick() {
      for (const { event, fates } of rows.values()) tickFates(fates, event.fates, now())
    },
  }
}
