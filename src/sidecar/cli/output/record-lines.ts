// Lines that `emulate` prints for each handshake, delivery, dead letter; live figures line.
import type { DeadLetterRecord, DeliveryRecord, HandshakeRecord, WarningRecord } from '../../../emulator/index.ts'
import { durationWords } from './log-writer.ts'

export function handshakeLine(record: HandshakeRecord): string {
  const { at, subscriptionName, method, status, outcome, message } = record
  const answer = status === undefined ? '' : ` ${status}`
  const reason = outcome === 'failed' && message !== undefined ? `: ${message}` : ''
  return `${time(at)} handshake ${subscriptionName} ${method} ${route(record)}${answer} ${outcome}${reason}`
}

export function deliveryLine(record: DeliveryRecord): string {
  const { at, subscriptionName, eventIds, status, error, outcome, nextTryAt, durationMs, deliveryCount } = record
  const what = eventIds.length === 1 ? `event ${eventIds[0]}` : `${eventIds.length} events`
  const again = nextTryAt === undefined ? '' : ` in ${durationWords(nextTryAt - at)}`
  const attempt = deliveryCount > 0 ? ` (try ${deliveryCount + 1})` : ''
  const answer = status ?? error ?? 'no answer'
  const head = `${time(at)} delivery ${subscriptionName} ${what} ${route(record)}`
  return `${head} ${answer} ${outcome}${again}${attempt} ${Math.round(durationMs)} ms`
}

export function deadLetterLine({ at, subscriptionName, blobPath, events }: DeadLetterRecord): string {
  const what = `${events.length} ${events.length === 1 ? 'event' : 'events'}`
  const fate = blobPath === undefined ? 'dropped' : `dead-lettered to ${blobPath}`
  return `${time(at)} given up ${subscriptionName} ${what} ${fate}: ${reasonOf(events[0])}`
}

export function warningLine({ at, subscriptionName, message }: WarningRecord): string {
  return `${time(at)} warning ${subscriptionName}: ${message}`
}

/** The live line; counts since the start. */
export function figuresLine(
  figures: Readonly<Record<'perSecond' | 'pending' | 'delivered' | 'deadLettered' | 'dropped', number>>,
): string {
  const { perSecond, pending, delivered, deadLettered, dropped } = figures
  const shown = (value: number) => Math.round(value).toLocaleString('en-US')
  const lost = dropped > 0 ? `, ${shown(dropped)} dropped` : ''
  const speed = `${shown(perSecond)} events/s, ${shown(pending)} pending`
  return `${speed}, ${shown(delivered)} delivered, ${shown(deadLettered)} dead-lettered${lost}`
}

/** Of the machine's time zone. */
function time(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}

function route({ url, target }: { readonly url: string; readonly target: string }): string {
  return url === target ? url : `${url} at ${target}`
}

/** As dead-lettering writes it, in either schema's spelling. */
function reasonOf(event: unknown): string {
  if (typeof event !== 'object' || event === null) return 'no reason'
  const named = Object.entries(event).find(([name]) => name.toLowerCase() === 'deadletterreason')
  return String(named?.[1] ?? 'no reason')
}
