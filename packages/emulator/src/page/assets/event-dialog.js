// What the dialog of an event shows and offers: each try with its answer, curl, another delivery, the next event.
import { addressWith, writeAddress } from './address.js'
import {
  byId,
  countOf,
  dayAndTimeOf,
  descriptionList,
  durationOf,
  element,
  postButton,
  postJson,
  publishTo,
  schemaNames,
  timeOf,
} from './elements.js'
import { fateElement, nextTryOf, tickFates } from './fates.js'

/**
 * The dialog of one event: its body, and each try with its request and its answer. While it is open, the address of the page leads
 * to the event. `beside` finds the event above or below another, `topicOf` the topic that an event can be published to again, and
 * `edit` puts an event into the form.
 */
export function createEventDialog({ now, beside, topicOf, edit }) {
  const dialog = byId('detail')
  const title = byId('detail-title')
  const content = byId('detail-content')
  const link = byId('detail-link')
  const steps = { up: byId('detail-up'), down: byId('detail-down') }
  dialog.addEventListener('close', () => writeAddress({ event: '' }))
  let shown
  let shownText = ''
  let shownEvent
  let shownNext = ''
  let asking = false
  let again = false

  async function load(key) {
    const answer = await fetch(`/emulator/events/${key}`).catch(() => undefined)
    if (key !== shown) return
    if (!answer?.ok) {
      const text = answer ? 'The event is no longer stored.' : 'No connection to the emulator.'
      if (shownText === '') content.replaceChildren(element('p', { class: 'quiet' }, text))
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
    shownNext = event.fates.map(nextText).join()
    content.replaceChildren(
      descriptionList([
        ['Id', event.id],
        ['Subject', event.subject],
        ['Source', event.source],
        ['Topic', event.topic],
        ['Arrived', dayAndTimeOf(event.at)],
        ['Schema', schemaNames[event.schema]],
      ]),
      element('h3', {}, 'Body'),
      codeBlock(indented(event.body), 'The event’s body'),
      publishing(event),
      ...event.fates.flatMap((fate) => fateSection(event, fate, open)),
      ...(event.fates.length === 0 ? [element('p', { class: 'quiet' }, 'No event subscription matches.')] : []),
      ...unmatchedList(event.unmatched),
    )
    if (focused !== undefined) content.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus()
  }

  function nextText(fate) {
    const next = nextTryOf(fate)
    return fate.state === 'waiting' ? (next > now() ? dayAndTimeOf(next) : 'now') : undefined
  }

  function fateSection(event, fate, open) {
    const heading = element('h3', {}, 'To ', fateElement(fate, now()))
    const facts = descriptionList([
      ['Reason', fate.reason],
      ['Blob', fate.blobPath],
      ['Next try', nextText(fate)],
    ])
    const tries = fate.attempts.toReversed().map((attempt, index) => {
      const name = `${fate.subscriptionId} ${attempt.at} ${attempt.deliveryCount}`
      const details = tryDetails(attempt, name)
      details.open = open.get(name) ?? index === 0
      return details
    })
    return [
      heading,
      ...(facts.childElementCount > 0 ? [facts] : []),
      ...(fate.pull ? [] : [redelivery(event, fate)]),
      ...tries,
    ]
  }

  /** Publishes the event once more as it was, or takes it to the form. */
  function publishing({ topic, body }) {
    const name = topicOf(topic)
    const isPossible = name !== undefined
    const editing = element('button', { type: 'button', 'data-focus': 'edit' }, 'Edit and publish')
    editing.setAttribute('aria-disabled', String(!isPossible))
    editing.addEventListener('click', () => {
      if (!isPossible) return
      dialog.close()
      edit(name, body)
    })
    const again = postButton('Publish again', {
      focus: 'publish',
      post: () => publishTo(name, body),
      isPossible,
      done: 'Accepted',
    })
    return element('div', { class: 'submit' }, editing, ...again)
  }

  function show(event) {
    shown = event.key
    shownText = ''
    shownEvent = undefined
    title.textContent = event.type || '(no type)'
    content.replaceChildren()
    link.href = addressWith({ event: event.key })
    writeAddress({ event: event.key })
    useSteps()
    if (!dialog.open) dialog.showModal()
    dialog.scrollTop = 0
    return load(event.key)
  }

  function useSteps() {
    for (const [direction, button] of Object.entries(steps))
      button.setAttribute('aria-disabled', String(beside(shown, direction) === undefined))
  }

  function step(direction) {
    const next = beside(shown, direction)
    if (next) show(next)
  }

  for (const [direction, button] of Object.entries(steps)) button.addEventListener('click', () => step(direction))
  // In the content the same keys scroll.
  byId('detail-head').addEventListener('keydown', (pressed) => {
    const direction = { ArrowUp: 'up', ArrowDown: 'down' }[pressed.key]
    if (!direction) return
    pressed.preventDefault()
    step(direction)
  })

  return {
    show,
    /** The address names an event that is not here. */
    showMissing(key) {
      shown = undefined
      shownText = shownEvent = undefined
      title.textContent = 'The event is gone'
      const text = `No event with the key ${key} is stored: only the newest are.`
      content.replaceChildren(element('p', { class: 'quiet' }, text))
      useSteps()
      if (!dialog.open) dialog.showModal()
    },
    /** The events beside it may have changed, too: at most one question is under way. */
    async refresh(key) {
      if (!dialog.open) return
      useSteps()
      if (key !== shown) return
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
    /** Counts the time down that is left to the next tries, none of which may lie in the past. */
    tick() {
      if (!dialog.open || !shownEvent) return
      if (shownEvent.fates.map(nextText).join() !== shownNext) render(shownEvent)
      tickFates(content, shownEvent.fates, now())
    },
  }
}

/** States in which nothing is under way, so that the event can be delivered again. */
const ended = new Set(['delivered', 'dead-lettered', 'dropped', 'unserved'])

/** The event subscriptions that the event does not match, and why. */
function unmatchedList(unmatched) {
  const items = unmatched.map(({ name, because }) =>
    element('li', {}, element('b', {}, name), ` does not match: ${because}`),
  )
  return items.length > 0 ? [element('ul', { class: 'quiet unmatched' }, ...items)] : []
}

/** Tries the event now while it waits, and delivers it again afterwards. */
function redelivery({ key }, { state, subscriptionId }) {
  const waits = state === 'waiting' || state === 'queued'
  const isPossible = waits || ended.has(state)
  const [text, action] = waits ? ['Try now', 'try-now'] : ['Redeliver', 'redeliver']
  const post = () => postJson(`/emulator/events/${key}/${action}`, { subscription: subscriptionId })
  return element(
    'div',
    { class: 'submit' },
    ...postButton(text, { focus: `redeliver ${subscriptionId}`, post, isPossible }),
  )
}

function tryDetails(attempt, name) {
  const details = element('details', { class: 'try', 'data-try': name })
  if (!/^2/.test(attempt.answer)) details.dataset.failed = ''
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
    curlButton(attempt, name),
  )
  const { responseHeaders, responseBody } = attempt
  if (responseHeaders) details.append(headerTable(`Answer: ${attempt.answer}`, responseHeaders))
  if (responseBody) details.append(codeBlock(indented(responseBody), `The answer to try ${number}`))
  return details
}

/** Copies a command that repeats the request of a try, and says what the page does not have of it. */
function curlButton(attempt, name) {
  const button = element('button', { type: 'button', 'data-focus': `curl ${name}` }, 'Copy as curl')
  const said = element('output')
  button.addEventListener('click', async () => {
    const missing = missingOf(attempt)
    said.textContent = await navigator.clipboard.writeText(curlOf(attempt)).then(
      () => (missing.length > 0 ? `Copied, but without ${missing.join(', ')}` : 'Copied'),
      () => 'The browser did not copy it',
    )
  })
  return element('div', { class: 'submit' }, button, said)
}

const secret = '(redacted)'

/** What is kept from the page because it may be secret, or is too long. */
const missingOf = ({ target, headers, bodyCut }) => [
  ...(target.endsWith(`?${secret}`) ? ['its query'] : []),
  ...Object.entries(headers).flatMap(([header, value]) => (value === secret ? [`the header ${header}`] : [])),
  ...(bodyCut ? ['the end of its body'] : []),
]

function curlOf({ url, target, headers, body }) {
  const sent = Object.entries({ host: new URL(url).host, ...headers }).filter(([, value]) => value !== secret)
  const address = target.replace(`?${secret}`, '')
  return [
    'curl',
    '-i',
    address,
    ...sent.flatMap(([header, value]) => ['-H', `${header}: ${value}`]),
    '--data-raw',
    body,
  ]
    .map(shellWord)
    .join(' ')
}

/** A word for a POSIX shell. */
const shellWord = (text) => (/^[\w./:=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

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
