// The state of an event in words, and its colour.
import { durationOf, element } from './elements.js'

const reasons = {
  MaxDeliveryAttemptsExceeded: 'too many tries',
  TimeToLiveExceeded: 'its time to live has expired',
}

/** Why an event was given up, for a reader. */
function reasonOf({ reason, answer }) {
  const last = answer === undefined ? '' : ` (${answer})`
  return reason === 'UndeliverableDueToClientError'
    ? `the answer was ${answer}`
    : `${reasons[reason] ?? reason ?? 'unknown reason'}${last}`
}

/** The state of an event for one subscription, in words. `now` is the emulator's time. */
export function fateText(fate, now) {
  const { state, tries, nextTryAt, answer, durationMs } = fate
  switch (state) {
    case 'queued':
      return 'queued'
    case 'waiting': {
      const left = nextTryAt === undefined ? undefined : nextTryAt - now
      const when = left === undefined ? 'later' : left <= 0 ? 'now' : `in ${durationOf(Math.max(left, 1000))}`
      return `${answer} · try ${tries + 1} ${when}`
    }
    case 'delivered':
      return `delivered · ${tries > 1 ? `try ${tries} · ` : ''}${durationOf(durationMs ?? 0)}`
    case 'given up':
      return `to be dead-lettered: ${reasonOf(fate)}`
    case 'dead-lettered':
      return `dead-lettered: ${reasonOf(fate)}`
    case 'dropped':
      return `dropped: ${reasonOf(fate)}`
    default:
      return 'its subscription was deleted'
  }
}

const tones = {
  delivered: 'ok',
  waiting: 'wait',
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
    { class: 'fate', 'data-state': fate.state, 'data-tone': toneOf(fate.state) },
    element('b', {}, fate.name),
    ' ',
    text,
  )
}
