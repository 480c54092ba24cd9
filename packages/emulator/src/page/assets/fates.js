// Which words and which colour stand for the state of an event.
import { durationOf, element, timeOf } from './elements.js'

const reasons = {
  MaxDeliveryAttemptsExceeded: 'too many tries',
  TimeToLiveExceeded: 'its time to live has expired',
  UndeliverableDueToProbationCausedByClientError: 'its endpoint was held back until its time to live had expired',
  Rejected: 'its receiver rejected it',
}

/** Why an event was given up, for a reader. */
function reasonOf({ reason, answer }) {
  const last = answer === undefined ? '' : ` (${answer})`
  return reason === 'UndeliverableDueToClientError'
    ? `the answer was ${answer}`
    : `${reasons[reason] ?? reason ?? 'unknown reason'}${last}`
}

/** Until when the endpoints of event subscriptions are held back after failures, by the subscription's id in lower case. */
export const heldUntil = new Map()

/** What names a fate among those of its event: never its place among them. */
const idOf = ({ subscriptionId }) => subscriptionId.toLowerCase()

/** When an event is tried next: never before its endpoint is no longer held back. */
export function nextTryOf({ subscriptionId, nextTryAt = 0 }) {
  return Math.max(nextTryAt, heldUntil.get(subscriptionId.toLowerCase()) ?? 0)
}

/** The state of an event for one subscription, in words. `now` is the emulator's time. */
export function fateText(fate, now) {
  const { state, tries, nextTryAt, answer, durationMs, pull } = fate
  const left = (at) => durationOf(Math.max(at - now, 1000))
  const held = heldUntil.get(idOf(fate)) ?? 0
  const isHeld = held > now && held >= (nextTryAt ?? 0)
  switch (state) {
    case 'queued':
      if (pull) return tries > 0 ? `available again · received ${tries} ×` : 'available'
      return isHeld ? `queued · held back until ${timeOf(held)}` : 'queued'
    case 'sending':
      return `${answer === undefined ? '' : `${answer} · `}try ${tries + 1} under way`
    case 'locked':
      return `locked${nextTryAt > now ? ` for ${left(nextTryAt)}` : ''} · received ${tries} ×`
    case 'delayed':
      return `released · available ${nextTryAt > now ? `in ${left(nextTryAt)}` : 'now'}`
    case 'waiting': {
      if (isHeld) return `${answer} · held back until ${timeOf(held)}`
      const next = nextTryOf(fate)
      return `${answer} · try ${tries + 1} ${next > now ? `in ${left(next)}` : 'now'}`
    }
    case 'delivered':
      if (pull) return `acknowledged${tries > 1 ? ` · received ${tries} ×` : ''}`
      return `delivered · ${tries > 1 ? `try ${tries} · ` : ''}${durationOf(durationMs ?? 0)}`
    case 'given up':
      return `to be dead-lettered: ${reasonOf(fate)}`
    case 'dead-lettered':
      return `dead-lettered: ${reasonOf(fate)}`
    case 'dropped':
      return `dropped: ${reasonOf(fate)}`
    case 'forwarded':
      return 'forwarded to its namespace topic'
    case 'unserved':
      return `not delivered: ${fate.reason}`
    default:
      return fate.reason === undefined ? 'its subscription was deleted' : `dropped: ${fate.reason}`
  }
}

const tones = {
  delivered: 'ok',
  forwarded: 'ok',
  waiting: 'wait',
  sending: 'wait',
  locked: 'wait',
  delayed: 'wait',
  'given up': 'wait',
  'dead-lettered': 'bad',
  dropped: 'bad',
  Succeeded: 'ok',
  Failed: 'bad',
  Creating: 'wait',
  Updating: 'wait',
  Deleting: 'wait',
  AwaitingManualAction: 'wait',
}

/** The tone of a state of an event or an event subscription: `ok`, `wait`, `bad` or `quiet`. */
export const toneOf = (state) => tones[state] ?? 'quiet'

/** A fate as an element; its text changes while time passes. */
export function fateElement(fate, now) {
  const text = element('span', { class: 'fate-text' }, fateText(fate, now))
  return element(
    'span',
    { class: 'fate', 'data-state': fate.state, 'data-tone': toneOf(fate.state), 'data-fate': idOf(fate) },
    element('b', {}, fate.name),
    ' ',
    text,
  )
}

/** Counts the time down in the texts of the fates that are shown inside an element. */
export function tickFates(root, fates, now) {
  for (const fate of fates) {
    const text = root.querySelector(`[data-fate="${CSS.escape(idOf(fate))}"] .fate-text`)
    const next = fateText(fate, now)
    if (text && text.textContent !== next) text.textContent = next
  }
}
