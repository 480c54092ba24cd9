// The dialog of one event: attempts, body, curl.
import {
  byId,
  countOf,
  dayAndTimeOf,
  descriptionList,
  durationOf,
  element,
  postJson,
  schemaNames,
  timeOf,
} from './elements.js'
import { fateElement, fateText } from './fates.js'

/**
 * The dialog of one event: its body, and each try with its request and its answer. While it is open, the address of the page leads
 * to the event.
 */
export function createEventDialog(now) {
  const dialog = byId('detail')
  const title = byId('detail-title')
  const content = byId('detail-content')
  const link = byId('detail-link')
  dialog.addEventListener('close', () => history.replaceState(null, '', location.pathname))
  let shown
  let shownText = ''
  let shownEvent
  let asking = false
  let again = false

  async function load(key) {
    const answer = await fetch(`/page/events/${key}`).catch(() => undefined)
    if (key !== shown) return
    if (!answer?.ok) {
      const text = answer ? 'The event is no longer stored.' : 'No connection to the emulator.'
      if (shownText === '') content.replaceChildren(element('p', { class: 'quiet padded' }, text))
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
    const focused = document.activeElement?.dataset.focus
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
      ...event.fates.flatMap((fate) => fateSection(event, fate, open)),
      ...(event.fates.length === 0 ? [element('p', { class: 'quiet padded' }, 'No event subscription matches.')] : []),
    )
    if (focused !== undefined) content.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus()
  }

  function fateSection(event, fate, open) {
    const heading = element('h3', {}, 'To ', fateElement(fate, now()))
    const facts = descriptionList([
      ['Reason', fate.reason],
      ['Blob', fate.blobPath],
      ['Next try', fate.nextTryAt === undefined ? undefined : dayAndTimeOf(fate.nextTryAt)],
    ])
    const tries = fate.attempts.toReversed().map((attempt, index) => {
      const name = `${fate.name} ${attempt.at} ${attempt.deliveryCount}`
      const details = tryDetails(attempt, name)
      details.open = open.get(name) ?? index === 0
      return details
    })
    return [heading, ...(facts.childElementCount > 0 ? [facts] : []), redelivery(event, fate), ...tries]
  }

  return {
    show(event) {
      shown = event.key
      shownText = ''
      shownEvent = undefined
      title.textContent = event.type || '(no type)'
      content.replaceChildren()
      link.href = `#${new URLSearchParams({ event: event.id })}`
      history.replaceState(null, '', link.href)
      if (!dialog.open) dialog.showModal()
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

/** States in which nothing is under way, so that the event can be delivered again. */
const ended = new Set(['delivered', 'dead-lettered', 'dropped'])

/** A button that delivers the event again. During a delivery it is disabled and not removed, so it keeps the focus. */
function redelivery({ key, redeliverable }, { name, state, subscriptionId }) {
  const isPossible = redeliverable && ended.has(state)
  const answer = element('output')
  const button = actionButton('Redeliver', `redeliver ${name}`)
  button.setAttribute('aria-disabled', String(!isPossible))
  button.addEventListener('click', async () => {
    if (!isPossible) return
    const refused = await postJson('/page/redeliver', { key, subscriptionId })
    answer.textContent = refused ?? ''
  })
  return element('div', { class: 'submit' }, button, answer)
}

function tryDetails(attempt, name) {
  const details = element('details', { class: 'try', 'data-try': name })
  const number = attempt.deliveryCount + 1
  const batch = attempt.events > 1 ? ` · ${countOf(attempt.events)} events together` : ''
  details.append(
    element(
      'summary',
      { 'data-focus': name },
      element('b', {}, `Try ${number}`),
      ` ${timeOf(attempt.at)} · ${attempt.answer} · ${durationOf(attempt.durationMs)}${batch}`,
    ),
    descriptionList([
      ['POST', attempt.url],
      ['Served at', attempt.target === attempt.url ? undefined : attempt.target],
    ]),
    headerTable('Headers', attempt.headers),
    element('div', {}, curlButton(attempt, name)),
  )
  const { responseHeaders, responseBody } = attempt
  if (responseHeaders) details.append(headerTable(`Answer: ${attempt.answer}`, responseHeaders))
  if (responseBody) details.append(codeBlock(indented(responseBody), `The answer to try ${number}`))
  return details
}

/** Copies a command that repeats the request of a try. Secret headers are left out: the page does not have them. */
function curlButton(attempt, name) {
  const button = actionButton('Copy as curl', `curl ${name}`)
  button.addEventListener('click', async () => {
    const done = await navigator.clipboard.writeText(curlOf(attempt)).then(
      () => 'Copied',
      () => 'The browser did not copy it',
    )
    button.textContent = done
  })
  return button
}

function curlOf({ url, target, headers, body }) {
  const sent = Object.entries({ host: new URL(url).host, ...headers }).filter(([, value]) => value !== '(redacted)')
  return ['curl', '-i', target, ...sent.flatMap(([header, value]) => ['-H', `${header}: ${value}`]), '--data-raw', body]
    .map(shellWord)
    .join(' ')
}

/** A word for a POSIX shell. */
const shellWord = (text) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

const actionButton = (text, focus) => element('button', { type: 'button', 'data-focus': focus }, text)

function headerTable(caption, headers) {
  const rows = Object.entries(headers).map(([name, value]) =>
    element('tr', {}, element('th', { scope: 'row' }, name), element('td', {}, value || '(empty)')),
  )
  return element('table', { class: 'headers' }, element('caption', {}, caption), element('tbody', {}, ...rows))
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
