/** How a delivery becomes events: its body is split and read as CloudEvents, and its headers become their metadata. */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { type CloudEvent, decodedData, type ReceivedEvent } from '../core/event.ts'
import { isRecord, sliceTopLevel, type UnknownRecord } from '../support/text/json-text.ts'

/**
 * One event of a body. The parsed event is dropped once the handler has it or the event has to wait: parsed brackets take thirty times
 * their bytes, and memory is bounded by bytes.
 */
export class DeliveryEvent {
  readonly contentType: string
  /** A view of the body. The view is never handed out, so nobody changes the bytes. */
  readonly #bytes: Buffer
  #cloudEvent: CloudEvent | undefined
  #digest: string | undefined

  constructor(bytes: Buffer, contentType: string, cloudEvent: CloudEvent) {
    this.#bytes = bytes
    this.contentType = contentType
    this.#cloudEvent = cloudEvent
  }

  /**
   * Identifies the event. Two events are the same when their bytes are, because the bytes hold source (or topic) and id. Computed when
   * needed: few events are delivered twice, and for all others the digest would be a tenth of all the work.
   */
  get digest(): string {
    this.#digest ??= hash('sha256', this.#bytes, 'base64')
    return this.#digest
  }

  /** The event as a handler gets it, with a copy of the bytes. The parsed event is given away, so a second call parses anew. */
  receive(
    metadata: Readonly<Record<string, string>>,
    signal: AbortSignal,
    attributes?: readonly string[],
  ): ReceivedEvent {
    const parsed = this.#cloudEvent ?? this.#parse()
    this.#cloudEvent = undefined
    const data = (parsed.data ?? undefined) === undefined ? decodedData(parsed) : undefined
    const cloudEvent = data === undefined ? parsed : { ...parsed, data }
    const known = attributes && { attributes }
    return { data: Buffer.from(this.#bytes), contentType: this.contentType, cloudEvent, metadata, ...known, signal }
  }

  /** Keeps the bytes only; `receive` parses them again. */
  forgetCloudEvent(): void {
    this.#cloudEvent = undefined
  }

  #parse(): CloudEvent {
    const reading = readEvent(JSON.parse(this.#bytes.toString()))
    if ('invalid' in reading) throw new Error(`an event was read before and cannot be read again: ${reading.invalid}`)
    return reading.cloudEvent
  }
}

/** A member of a body: an event, or the reason why it is not an event. */
export type DeliveryMember = DeliveryEvent | { readonly invalid: string }

/** The members of a body, or the reason why a retry of this body cannot succeed. */
type DeliveryReading = { readonly members: DeliveryMember[] } | { readonly problem: string }

/** Event Grid's own limit of a batch (`maxEventsPerBatch`). */
const maxEvents = 5_000

/**
 * Reads the body of a POST: one event or an array of events, of either schema, under any JSON type. `__proto__` and `constructor` are names
 * like any other. Of a name that appears twice the last value counts, as always with `JSON.parse`; `data` keeps both.
 *
 * Nesting is not bounded, because neither `JSON.parse` nor this code recurses: what Event Grid accepted is not refused.
 */
export function readDelivery(received: Buffer): DeliveryReading {
  const body = withoutByteOrderMark(received)
  const text = body.toString()
  // Invalid UTF-8 was decoded to this character. Most texts do not hold it, so the second check rarely runs.
  if (text.includes('\ufffd') && !isUtf8(body)) return { problem: 'The body is not UTF-8.' }
  const shape = sliceTopLevel(body, maxEvents)
  if (shape.kind === 'tooMany') return { problem: `The body holds more than ${maxEvents} events.` }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { problem: 'The body is not JSON.' }
  }
  if (shape.kind === 'other') return { problem: 'The body is neither an event nor an array of events.' }
  const values: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed]
  if (values.length === 0) return { problem: 'The body holds no event.' }
  return {
    members: shape.slices.map(({ start, end }, index) => readParsedEvent(body.subarray(start, end), values[index])),
  }
}

/** Reads an event that was parsed before. `bytes` hold it alone. */
export function readParsedEvent(bytes: Buffer, value: unknown): DeliveryMember {
  const reading = readEvent(value)
  return 'invalid' in reading ? reading : new DeliveryEvent(bytes, reading.contentType, reading.cloudEvent)
}

function withoutByteOrderMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body
}

/** An event in CloudEvents form, with the content type of its bytes; or the reason why it is not an event. */
type EventReading = { readonly cloudEvent: CloudEvent; readonly contentType: string } | { readonly invalid: string }

/** Reads a parsed JSON value as an event of either schema. */
export function readEvent(value: unknown): EventReading {
  if (!isRecord(value)) return { invalid: 'it is not an object' }
  if (Object.hasOwn(value, 'specversion')) return readCloudEvent(value)
  if (Object.hasOwn(value, 'eventType')) return readEventGridEvent(value)
  return { invalid: 'it has neither specversion nor eventType' }
}

const optionalTexts = ['subject', 'time', 'datacontenttype', 'dataschema', 'data_base64'] as const
const contentType = 'application/cloudevents+json'

/** CloudEvents 1.x: minor versions are compatible. An attribute that is null counts as unset (CloudEvents JSON format, 2.2). */
function readCloudEvent(value: UnknownRecord): EventReading {
  const { specversion, id, source, type } = value
  if (typeof specversion !== 'string' || !specversion.startsWith('1.')) return { invalid: 'its specversion is not 1.0' }
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or not a text' }
  if (typeof source !== 'string' || source === '') return { invalid: 'its source is missing or not a text' }
  if (typeof type !== 'string' || type === '') return { invalid: 'its type is missing or not a text' }
  for (const name of optionalTexts) {
    const attribute = value[name] ?? undefined
    if (attribute !== undefined && typeof attribute !== 'string') return { invalid: `its ${name} is not a text` }
  }
  const event = withoutNullAttributes(value)
  return isCloudEvent(event) ? { cloudEvent: event, contentType } : { invalid: 'it is not a CloudEvent' }
}

/** `data` may be null; it is no attribute. */
function withoutNullAttributes(value: UnknownRecord): UnknownRecord {
  if (!Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([name, set]) => set !== null || name === 'data'))
}

/** For the type checker: {@link readCloudEvent} has checked the rest. */
function isCloudEvent(value: UnknownRecord): value is CloudEvent {
  return typeof value.specversion === 'string'
}

/** Converts as Event Grid does (cloud-event-schema): the versions are dropped, and no datacontenttype or dataschema is added. */
function readEventGridEvent(value: UnknownRecord): EventReading {
  const { id, topic, subject, eventType, eventTime } = value
  if (typeof id !== 'string' || id === '') return { invalid: 'its id is missing or not a text' }
  if (typeof eventType !== 'string' || eventType === '') return { invalid: 'its eventType is missing or not a text' }
  if (typeof topic !== 'string' || topic === '') return { invalid: 'its topic is missing or not a text' }
  if (typeof subject !== 'string') return { invalid: 'its subject is missing or not a text' }
  if (typeof eventTime !== 'string') return { invalid: 'its eventTime is missing or not a text' }
  return {
    cloudEvent: {
      specversion: '1.0',
      id,
      source: topic,
      type: eventType,
      // A CloudEvent must not have an empty subject; Event Grid's own system events have one.
      ...(subject === '' ? {} : { subject }),
      time: eventTime,
      data: value.data,
    },
    contentType: 'application/json',
  }
}

/** Credentials of ours and of a proxy: never an event's metadata, though the event subscription declares an attribute of that name. */
const isCredential = (name: string) =>
  /^(?:authorization|proxy-auth|cookie|set-cookie|aeg-sas-|x-eventgrid-binding-token|x-amzn-oidc-|x-ms-token-|x-ms-client-principal)/.test(
    name,
  ) || /^x-forwarded-.*(?:token|cert)/.test(name)

/** Parts of a name that say that its value may be a credential; `author` does not count. */
const credentialParts = new RegExp(
  [
    ...['token', 'secret', 'cookie', 'session', 'jwt', 'jws', 'jwk', 'credential', 'passw', 'passphrase', 'signature'],
    ...['assertion', 'bearer', 'csrf', 'xsrf', 'saml', 'oidc', 'hmac', 'principal', 'userinfo', 'auth(?!or(?!i[sz]))'],
  ].join('|'),
)

/** Words of a name that say the same; `keyboard` does not count. */
const words = [
  ...['[a-z]*keys?', '[a-z]*certs?', 'certificate', 'claims', 'creds?', 'login', 'nonce', 'otp', 'pass', 'pat', 'pin'],
  ...['psk', 'pwd', 'sas', 'sid', 'sig', 'sso', 'ticket'],
]

const credentialWords = new RegExp(`(?:^|[-_.])(?:${words.join('|')})(?:$|[-_.\\d])`)

/** Keys by the beginning that their makers gave them. */
const beginningsOfKeys = [
  ...['A[KS]IA[\\dA-Z]{12}', 'AIza[\\w-]{16}', 'SG\\.[\\w-]{16}', 'gh[oprsu]_\\w{16}', 'github_pat_', 'glpat-'],
  ...['hv[bs]\\.[\\w-]{16}', 'npm_\\w{16}', 'sk[-_][\\w-]{16}', 'xox[a-z]-', 'ya29\\.'],
]

/** Values that are a credential whatever their name: with a scheme of HTTP, JSON in base64 (a JWT), a signed URL, a certificate or key. */
const credentialValues = [
  /^(?:apikey|basic|bearer|negotiate|ntlm|sharedaccesskey|token)\s+[\w+/=.~-]{8,}$/i,
  /^(?:aws4-hmac-sha256|digest|hawk|sharedaccesssignature)\s.*=/i,
  /(?<![\w-])eyJ[\w-]{8}|[?&]sig=|-----BEGIN/,
  new RegExp(`^(?:${beginningsOfKeys.join('|')})`),
]

/** Headers in which proxies repeat the URL of a request: the query of `subscriberEndpoint` is secret. */
const urlOfRequest = /^(?:referer|x-.*-(?:ur[il]|path))$/

/** What Event Grid itself sends, and the trace context. */
const isOwn = (name: string) => name.startsWith('aeg-') || name === 'traceparent' || name === 'tracestate'

/** Whether a header may be a delivery attribute where nobody knows which are declared. */
function mayBeAttribute(name: string, value: string): boolean {
  return (
    !urlOfRequest.test(name) &&
    !credentialParts.test(name) &&
    !credentialWords.test(name) &&
    !credentialValues.some((pattern) => pattern.test(value))
  )
}

/**
 * An event's metadata from the headers of its delivery: `aeg-*`, trace context and the subscription's delivery attributes, never a
 * credential. Where the declared attributes are known, they are all that is added. Where they are not, all is added that cannot be a
 * credential.
 *
 * @param declared as {@link ReceivedEvent.attributes}
 */
export function eventMetadata(
  headers: IncomingHttpHeaders,
  declared: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  const metadata: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]
    if (typeof value !== 'string') continue
    const isWanted = isOwn(name) || (declared ? declared.includes(name) : mayBeAttribute(name, value))
    // An assignment loses a header named __proto__, which no attribute uses.
    if (isWanted && !isCredential(name)) metadata[name] = value
  }
  return metadata
}
