// The table of events, its search and filters.
import { byId, countOf, element, lastPart, timeOf } from './elements.js'
import { fateElement, fateText } from './fates.js'

/** Rows on the page, more than the emulator remembers events: it says itself which of them are gone. */
const rowLimit = 400

const groups = {
  open: new Set(['queued', 'waiting', 'given up']),
  waiting: new Set(['waiting']),
  delivered: new Set(['delivered']),
  lost: new Set(['given up', 'dead-lettered', 'dropped', 'forgotten']),
}

/** The table of events. `now` is the emulator's time; `open` is called for the event whose row is chosen. */
export function createEventTable({ now, open }) {
  const body = byId('events')
  const empty = byId('no-events')
  const find = byId('find')
  const show = byId('show')
  const pause = byId('pause')
  /** By key, in no order. */
  const rows = new Map()
  /** What came while the reader asked for quiet, by key. */
  const held = new Map()
  let paused = false
  /** Keys of the events whose bodies hold the text that is searched for. */
  let found = new Set()
  let asking = false
  let stale = false

  function isShown({ key, type, subject, id, fates }) {
    const text = find.value.trim().toLowerCase()
    if (text !== '' && !found.has(key) && ![type, subject, id].some((one) => one.toLowerCase().includes(text)))
      return false
    const group = groups[show.value]
    return group === undefined || fates.some(({ state }) => group.has(state))
  }

  function makeRow(event) {
    const button = element('button', { type: 'button', class: 'link' }, event.type || '(no type)')
    const fates = element('div', { class: 'fates' })
    const row = element(
      'tr',
      { 'data-key': String(event.key) },
      element('td', { class: 'quiet time' }, timeOf(event.at)),
      element(
        'td',
        { class: 'event' },
        button,
        ' ',
        element('span', { class: 'quiet subject' }, event.subject || event.id),
      ),
      element('td', { class: 'quiet source' }, lastPart(event.source)),
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
    entry.row.hidden = !isShown(event)
    if (known) return
    rows.set(event.key, entry)
    let next = body.firstElementChild
    while (next && Number(next.dataset.key) > event.key) next = next.nextElementSibling
    body.insertBefore(entry.row, next)
  }

  function fateElements({ fates, further = 0 }) {
    if (fates.length === 0) return [element('span', { class: 'quiet' }, 'no subscription matches')]
    const more = further > 0 ? [element('span', { class: 'quiet' }, `and ${countOf(further)} more`)] : []
    return [...fates.map((fate) => fateElement(fate, now())), ...more]
  }

  function drop(key) {
    rows.get(key)?.row.remove()
    rows.delete(key)
  }

  function trim() {
    while (rows.size > rowLimit && body.lastElementChild) drop(Number(body.lastElementChild.dataset.key))
  }

  function tidy() {
    const shown = [...rows.values()].some(({ row }) => !row.hidden)
    empty.hidden = shown
    empty.textContent =
      rows.size > 0 ? 'No event matches.' : 'No events yet. Publish one with the form, or to a topic’s endpoint.'
    pause.textContent = !paused ? 'Pause' : held.size > 0 ? `Resume (${countOf(held.size)} new)` : 'Resume'
    pause.setAttribute('aria-pressed', String(paused))
  }

  function update(events) {
    // Oldest first, so that each new row finds its place at the top.
    for (const event of events.toReversed()) {
      if (paused) held.set(event.key, event)
      else put(event)
    }
    for (const key of held.size > rowLimit ? [...held.keys()].sort((a, b) => a - b).slice(0, -rowLimit) : [])
      held.delete(key)
    trim()
    tidy()
    if (events.length > 0) search()
  }

  function refilter() {
    for (const { event, row } of rows.values()) row.hidden = !isShown(event)
    tidy()
  }

  /** Asks for the events whose bodies hold the text: the bodies are not on the page. At most one question is under way. */
  async function search() {
    const text = find.value.trim()
    stale = asking
    if (asking) return
    if (text === '') {
      found = new Set()
      return
    }
    asking = true
    const answer = await fetch(`/page/search?text=${encodeURIComponent(text)}`).catch(() => undefined)
    if (answer?.ok) found = new Set(await answer.json())
    asking = false
    refilter()
    if (stale) await search()
  }

  find.addEventListener('input', () => {
    found = new Set()
    refilter()
    search()
  })
  show.addEventListener('change', refilter)
  pause.addEventListener('click', () => {
    paused = !paused
    const waiting = [...held.values()].sort((one, other) => other.key - one.key)
    held.clear()
    update(paused ? [] : waiting)
  })

  return {
    update,
    /** The newest event with that id. */
    find: (id) =>
      [...rows.values()]
        .map(({ event }) => event)
        .reduce((newest, event) => {
          return event.id === id && !(newest?.key > event.key) ? event : newest
        }, undefined),
    /** Replaces all events. */
    reset(events) {
      if (!paused) {
        const kept = new Set(events.map(({ key }) => key))
        for (const key of [...rows.keys()]) if (!kept.has(key)) drop(key)
      }
      update(events.slice(0, rowLimit))
    },
    /** Counts the time down that is left to the next tries. */
    tick() {
      for (const { event, fates } of rows.values()) {
        event.fates.forEach((fate, index) => {
          if (fate.state !== 'waiting') return
          const text = fates.children[index]?.querySelector('.fate-text')
          if (text) text.textContent = fateText(fate, now())
        })
      }
    },
  }
}
