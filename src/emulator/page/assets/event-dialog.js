import { byId, countOf, dayAndTimeOf, descriptionList, durationOf, element, schemaNames, timeOf } from './elements.js'
import { fateElement, fateText } from './fates.js'

/** The dialog that shows an event whole: its body, and every try with headers and body. */
export function createEventDialog(now) {
  const dialog = byId('detail')
  const title = byId('detail-title')
  const content = byId('detail-content')
  let shown
  let shownText = ''
  let shownEvent
  let asking = false
  let again = false

  async function load(key) {
    const answer = await fetch(`/page/events/${key}`).catch(() => undefined)
    if (key !== shown) return
    if (!answer?.ok) {
      const text = answer ? 'The event is not kept any more.' : 'The emulator is away.'
      if (shownText === '') content.replaceChildren(element('p', { class: 'empty' }, text))
      return
    }
    const text = await answer.text()
    if (key !== shown || text === shownText) return
    shownText = text
    shownEvent = JSON.parse(text)
    render(shownEvent)
  }

  function render(event) {
    // A change must not close what the reader has opened, nor take the focus from it.
    const open = new Map([...content.querySelectorAll('details')].map((one) => [one.dataset.try, one.open]))
    const focused = document.activeElement?.closest('details')?.dataset.try
    title.textContent = event.type || '(no type)'
    content.replaceChildren(
      descriptionList([
        ['Id', event.id],
        ['Subject', event.subject],
        ['Source', event.source],
        ['Arrived', dayAndTimeOf(event.at)],
        ['Schema', schemaNames[event.schema]],
      ]),
      element('h3', {}, event.truncated ? 'Body (its beginning)' : 'Body'),
      codeBlock(indented(event.body), 'The event’s body'),
      ...event.fates.flatMap((fate) => fateSection(fate, open)),
      ...(event.fates.length === 0 ? [element('p', { class: 'empty' }, 'No event subscription wanted it.')] : []),
    )
    if (focused !== undefined) content.querySelector(`[data-try="${CSS.escape(focused)}"] summary`)?.focus()
  }

  function fateSection(fate, open) {
    const heading = element('h3', {}, 'To ', fateElement(fate, now()))
    const facts = descriptionList([
      ['Reason', fate.reason],
      ['Blob', fate.blobPath],
      ['Next try', fate.nextTryAt === undefined ? undefined : dayAndTimeOf(fate.nextTryAt)],
    ])
    const tries = fate.attempts.toReversed().map((attempt, index) => {
      const name = `${fate.name} ${attempt.deliveryCount}`
      const details = tryDetails(attempt, name)
      details.open = open.get(name) ?? index === 0
      return details
    })
    return [heading, ...(facts.childElementCount > 0 ? [facts] : []), ...tries]
  }

  return {
    show(event) {
      shown = event.key
      shownText = ''
      shownEvent = undefined
      title.textContent = event.type || '(no type)'
      content.replaceChildren()
      dialog.showModal()
      return load(event.key)
    },
    /** The event has changed, perhaps; at most one question is under way. */
    async refresh(key) {
      if (!dialog.open || key !== shown) return
      if (asking) {
        again = true
        return
      }
      asking = true
      try {
        await load(key)
      } finally {
        asking = false
      }
      if (!again) return
      again = false
      await this.refresh(key)
    },
    /** Counts the time down that is left to the next tries. */
    tick() {
      if (!dialog.open || !shownEvent) return
      const texts = content.querySelectorAll('h3 .fate-text')
      shownEvent.fates.forEach((fate, index) => {
        if (fate.state === 'waiting' && texts[index]) texts[index].textContent = fateText(fate, now())
      })
    },
  }
}

function tryDetails(attempt, name) {
  const details = element('details', { class: 'try', 'data-try': name })
  const bundle = attempt.events > 1 ? ` · ${countOf(attempt.events)} events together` : ''
  details.append(
    element(
      'summary',
      {},
      element('b', {}, `Try ${attempt.deliveryCount + 1}`),
      ` ${timeOf(attempt.at)} · ${attempt.answer} · ${durationOf(attempt.durationMs)}${bundle}`,
    ),
    descriptionList([
      ['POST', attempt.url],
      ['Served at', attempt.target === attempt.url ? undefined : attempt.target],
    ]),
    headerTable(attempt.headers),
    codeBlock(indented(attempt.body), `The body of try ${attempt.deliveryCount + 1}`),
  )
  return details
}

function headerTable(headers) {
  const rows = Object.entries(headers).map(([name, value]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value || '(empty)')),
  )
  return element('table', { class: 'headers' }, element('caption', {}, 'Headers'), element('tbody', {}, ...rows))
}

/** Scrolls by itself, hence its place in the order of the keyboard. */
function codeBlock(text, label) {
  return element('pre', { tabindex: '0', role: 'region', 'aria-label': label }, element('code', {}, text))
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
