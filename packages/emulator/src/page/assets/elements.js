// How the page makes elements, posts, and says numbers, times and durations.

/**
 * Makes an element. Texts become text nodes and nothing else, so whatever an event holds is shown and never read as markup.
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...children)
  return made
}

/** The element of the page with that id. */
export function byId(id) {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no ${id}`)
  return found
}

/** Posts to the emulator. Resolves with why it refused, or with `undefined` where it did as it was asked. */
export async function postJson(path, value) {
  try {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(path, { method: 'POST', headers, body: value && JSON.stringify(value) })
    if (answer.status === 204) return undefined
    const { status, code, message, detail } = await answer.json()
    if (!answer.ok) return detail ?? `Refused: ${answer.status}`
    return status === 200 ? undefined : `${status} ${code ?? ''}: ${message ?? 'refused'}`
  } catch {
    return 'The emulator did not answer'
  }
}

/** Publishes an event, or a list of events, to a topic. The same answer as of {@link postJson}. */
export const publishTo = (topic, events) =>
  postJson(`/emulator/topics/${encodeURIComponent(topic)}/publish`, { events })

/** A button that has the emulator do something, as `post` asks it, and what came of it. Made disabled, it stays where it is, so that it keeps the focus. */
export function postButton(text, { focus, post, isPossible = true, done = '' }) {
  const answer = element('output')
  const button = element('button', { type: 'button', 'data-focus': focus }, text)
  button.setAttribute('aria-disabled', String(!isPossible))
  button.addEventListener('click', async () => {
    if (isPossible) answer.textContent = (await post()) ?? done
  })
  return [button, answer]
}

/** Rows of a description list; those without a value, or with an empty list, are left out. */
export function descriptionList(rows) {
  const list = element('dl', { class: 'facts' })
  for (const [term, value] of rows) {
    const texts = Array.isArray(value) ? value : [String(value ?? '')]
    if (texts.join('') === '') continue
    list.append(element('dt', {}, term), ...texts.map((text) => element('dd', {}, text)))
  }
  return list
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const numberFormat = new Intl.NumberFormat('en')

/** A time of day, in the reader's time zone. */
export const timeOf = (at) => timeFormat.format(at)
/** The same with its day. */
export const dayAndTimeOf = (at) => dayFormat.format(at)
/** A number with its thousands apart. */
export const countOf = (count) => numberFormat.format(count)

/** A duration for a reader. */
export function durationOf(ms) {
  if (ms < 1) return '<1 ms'
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

/** The last part of a resource id. */
export const lastPart = (id) => id.split('/').findLast((part) => part !== '') ?? id

/** The schemas in a reader's words. */
export const schemaNames = {
  CloudEventSchemaV1_0: 'CloudEvents 1.0',
  EventGridSchema: 'Event Grid schema',
  CustomEventSchema: 'custom schema',
  CustomInputSchema: 'custom schema',
}
