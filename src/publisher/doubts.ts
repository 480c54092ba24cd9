/** What a call publishes in another way than its caller may have meant, and the warnings that say so. */
import type { QuietLog } from '../core/quiet-log.ts'
import { isRecord, type UnknownRecord } from '../support/text/is-record.ts'
import { nearestName } from '../support/text/nearest-name.ts'
import { oneLine } from '../support/text/text.ts'
import { metadataNames } from './new-event.ts'
import { kindOf } from './payload.ts'

/** What a caller may have meant otherwise. */
export type PayloadDoubt =
  /** An event in an array that is published as data, since its first element is no event. */
  | { readonly kind: 'event within data'; readonly index: number; readonly first: string }
  /** Data that has members of an event. `index` is its place where the data is an array. */
  | { readonly kind: 'like an event'; readonly index: number | undefined }
  /** A name in the metadata of a call that nothing is made of. */
  | { readonly kind: 'unused metadata'; readonly name: string; readonly isWhole: boolean }

/**
 * What is doubtful of data (pure): an event in an array that begins with something else, or what has members of an event.
 *
 * @param isEvent tells a value that is published as an event where it stands alone
 */
export function doubtsOfData(value: unknown, isEvent: (value: unknown) => boolean): readonly PayloadDoubt[] {
  if (!Array.isArray(value)) return looksLikeEvent(value) ? [{ kind: 'like an event', index: undefined }] : []
  const event = value.findIndex(isEvent)
  if (event !== -1) return [{ kind: 'event within data', index: event, first: kindOf(value[0]) }]
  const like = value.findIndex(looksLikeEvent)
  return like === -1 ? [] : [{ kind: 'like an event', index: like }]
}

/** Members by which an event is told, in lower case: some write `Type` and `SpecVersion`. */
const marks: ReadonlySet<string> = new Set([
  ...['specversion', 'type', 'source'],
  ...['eventtype', 'subject', 'eventtime', 'dataversion'],
])

function looksLikeEvent(value: unknown): boolean {
  if (!isRecord(value)) return false
  const found = new Set(Object.keys(value).flatMap((name) => markOf(name, value) ?? []))
  if (found.has('specversion') || (found.has('type') && found.has('source'))) return true
  return found.has('eventtype') && (found.has('subject') || found.has('eventtime') || found.has('dataversion'))
}

function markOf(name: string, value: UnknownRecord): string | undefined {
  const mark = name.toLowerCase()
  return marks.has(mark) && typeof value[name] === 'string' ? mark : undefined
}

/** Names that runtimes add by themselves. */
const ofTrace: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage'])

/** The names in the metadata of a call that nothing is made of (pure). Beside a whole event these are all but the trace's. */
export function unusedMetadata(
  metadata: Readonly<Record<string, unknown>>,
  { isWhole }: { readonly isWhole: boolean },
): readonly PayloadDoubt[] {
  return Object.entries(metadata).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    const isUsed = ofTrace.has(lower) || (!isWhole && metadataNames.has(lower))
    return isUsed || value === '' || value === undefined ? [] : [{ kind: 'unused metadata', name, isWhole } as const]
  })
}

/** Makes the function that warns of doubts: each kind, and each name in metadata, once in 30 s, and the others by their number. */
export function createDoubtLog(log: QuietLog): (doubt: PayloadDoubt) => void {
  return (doubt) => {
    switch (doubt.kind) {
      case 'event within data':
        return log.warn(eventWithinData, { index: doubt.index, first: doubt.first })
      case 'like an event':
        return log.warn(likeAnEvent, doubt.index === undefined ? {} : { index: doubt.index })
      case 'unused metadata': {
        const name = oneLine(doubt.name, 100)
        return log.warn(unusedName, { name, fix: doubt.isWhole ? wholeFix : nameFix(doubt.name) }, name)
      }
    }
  }
}

const eventWithinData =
  'an array was published as the data of one event, though an event is in it: its first element is none. An array of events begins with one'
const likeAnEvent =
  'what looks like an event was published as the data of a new event: a CloudEvent has specversion, an Event Grid event has eventType and ' +
  'subject, eventTime or dataVersion'
const unusedName = 'a name in the metadata of a create does nothing'
const wholeFix = 'the payload is a whole event, which is published unchanged: write it there, or publish data alone'

/** The known name that was probably meant: `eventType` and `cloudevent.type` are `type`. Too many names are near `id`: `ip`, `uid` and others. */
function nameFix(given: string): string {
  const name = given.toLowerCase().replace(/^(?:cloudevents?|ce|event)[^a-z]?/, '')
  const isKnown = metadataNames.has(name)
  const compared = [...metadataNames].filter((known) => known !== 'id')
  const meant = isKnown ? name : name === 'topic' ? 'source' : nearestName(name, compared, { maxEdits: 1 })
  return meant === undefined ? `create knows ${[...metadataNames].join(', ')}` : `did you mean ${meant}?`
}
