/** Which line `emulate` prints for each record while it runs, and what its live line says. */
import type { LinePart } from '../../../../src/support/command-line/terminal.ts'
import { durationWords } from '../../../../src/support/time/clock.ts'
import type {
  DeadLetterRecord,
  DeliveryRecord,
  EventList,
  HandshakeRecord,
  RequestRecord,
  WarningRecord,
} from '../index.ts'

type Tone = LinePart['tone']
type Line = readonly LinePart[]

/** As in `14:04:03  503  billing <- Shop.OrderPaid 5516a0f2…  try 2 in 2 s`: addresses only where it failed. */
export function deliveryLine(record: DeliveryRecord): Line {
  const { at, subscriptionName, eventIds, eventTypes, status, error, outcome, nextTryAt, deliveryCount } = record
  const first = eventIds.map((id, index) => ({ id, type: eventTypes[index] ?? '' }))
  const what = `${subscriptionName} <- ${eventsWords({ count: eventIds.length, first })}`
  if (outcome === 'delivered') {
    return line(at, status, 'good', what, deliveryCount > 0 ? `at try ${deliveryCount + 1}` : '')
  }
  const next =
    nextTryAt === undefined
      ? `given up after ${triesWords(deliveryCount + 1)}, ${outcome === 'dropped' ? 'dropped' : 'to be dead-lettered'}`
      : `try ${deliveryCount + 2} in ${durationWords(nextTryAt - at)}`
  return line(at, status, nextTryAt === undefined ? 'bad' : 'warning', what, next, route(record), error)
}

export function handshakeLine(record: HandshakeRecord): Line {
  const { at, subscriptionName, method, status, outcome, message } = record
  const tone = outcome === 'validated' ? 'good' : outcome === 'failed' ? 'bad' : 'warning'
  return line(at, status, tone, `handshake ${subscriptionName}`, `${method} ${route(record)}`, outcome, message)
}

/**
 * The lines of a request: of a refused publish, of the first one to a topic, of events that no event subscription takes, and of
 * events that a receiver got. None for other requests.
 *
 * @param isFirst whether it is the first accepted publish to its topic
 */
export function requestLines(record: RequestRecord, isFirst: boolean): readonly Line[] {
  const { at, route, status, publish, receive, code = '', message = '' } = record
  if (receive) {
    const { subscriptionName, events, deliveryCount } = receive
    const again = deliveryCount > 1 ? `at try ${deliveryCount}` : ''
    return [line(at, 'pull', 'good', `${subscriptionName} <- ${eventsWords(events)}`, again)]
  }
  if (!publish) return []
  const { topic, events, unwanted, unserved = [], unmatched = [], isCheck } = publish
  const because = [
    ...unserved.map((one) => `${one.subscriptionName} matches, but does not get it: ${one.because}`),
    ...unmatched.map((one) => `${one.subscriptionName} does not match: ${one.because}`),
  ]
  const untaken = because.length > 0 ? because.join('; ') : 'no event subscription takes it'
  const to = route === 'blob' ? `blobs of ${topic}` : `publish to ${topic}`
  if (isCheck) return [line(at, status, 'good', to, 'an empty list: a check, which finds the credential accepted')]
  if (!events) return [line(at, status, 'bad', to, [code, message].filter((text) => text !== '').join(': '))]
  return [
    ...(isFirst
      ? [
          line(
            at,
            status,
            'good',
            to,
            eventsWords(events),
            route === 'blob' ? 'the first of this account' : 'the first to this topic',
          ),
        ]
      : []),
    ...(unwanted ? [line(at, status, 'warning', to, eventsWords(unwanted), untaken)] : []),
  ]
}

export function deadLetterLine({ at, subscriptionName, blobPath, events, reasons }: DeadLetterRecord): Line {
  const fate = blobPath === undefined ? 'dropped' : `dead-lettered to ${blobPath}`
  return line(at, 'lost', 'bad', `${subscriptionName} gave up ${countWords(events.length)}`, fate, reasons[0] ?? '')
}

export function warningLine({ at, subscriptionName, message }: WarningRecord): Line {
  return line(at, 'warn', 'warning', subscriptionName, message)
}

/** The live line; counts since the start. */
export function figuresLine(
  figures: Readonly<Record<'perSecond' | 'pending' | 'delivered' | 'deadLettered' | 'dropped' | 'refused', number>>,
): string {
  const { perSecond, pending, delivered, deadLettered, dropped, refused } = figures
  const shown = (value: number) => Math.round(value).toLocaleString('en-US')
  const more = [
    dropped > 0 ? `, ${shown(dropped)} dropped` : '',
    refused > 0 ? `, ${shown(refused)} ${refused === 1 ? 'publish' : 'publishes'} refused` : '',
  ]
  const speed = `${shown(perSecond)} events/s, ${shown(pending)} pending`
  return `${speed}, ${shown(delivered)} delivered, ${shown(deadLettered)} dead-lettered${more.join('')}`
}

/** `1 event`, `2 events`. */
export const countWords = (count: number) => (count === 1 ? '1 event' : `${count} events`)

const triesWords = (count: number) => (count === 1 ? '1 try' : `${count} tries`)

const longestId = 12

/** The type and the id of one event, the id cut where it is long; of several how many. */
function eventsWords({ count, first: [first] }: EventList): string {
  if (count !== 1 || !first) return countWords(count)
  const { type, id } = first
  return `${type} ${id.length > longestId ? `${id.slice(0, 8)}…` : id}`
}

/** A line: the time, a mark, the subject and the facts. The mark is a status or a word of four letters. */
function line(at: number, mark: number | string | undefined, tone: Tone, ...texts: (string | undefined)[]): Line {
  const said = texts.filter((text) => text !== undefined && text !== '')
  return [
    { text: `${time(at)}  `, tone: 'faint' },
    { text: String(mark ?? '---').padEnd(4), tone },
    { text: ` ${said.join('  ')}`, tone: 'plain' },
  ]
}

/** Of the machine's time zone. */
function time(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}

function route({ url, target }: { readonly url: string; readonly target: string }): string {
  return url === target ? url : `${url} at ${target}`
}
