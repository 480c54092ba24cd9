/** Reads an event subscription, whose 404 is believed only where Resource Manager's list agrees, and writes it until it is provisioned. */

import { isDeepStrictEqual } from 'node:util'
import { LroEngine, type LroResponse } from '@azure/core-lro'
import type { PipelineResponse } from '@azure/core-rest-pipeline'
import { readRetryAfter } from '../azure/http.ts'
import { ArmFailureError, readFailure, readOperationFailure } from '../azure/read-failure.ts'
import { codeOfFailure } from '../azure/refusals/resource-manager-refusal.ts'
import { deliveryTokenHeader } from '../core/delivery-credential.ts'
import { isRecord, readJson } from '../support/text/json-text.ts'
import { type Arm, type ArmRequest, type CallLimits, pauseWithin, readList, unreadable, untilAnswered } from './arm.ts'
import { type SubscriptionPlace, subscriptionIdOf } from './decide.ts'
import {
  type DeliveryAttribute,
  destinationOf,
  isChanging,
  isOurAttribute,
  isValueKnown,
  propertiesIn,
  readAttributes,
  readSubscriptionProperties,
  type SubscriptionProperties,
  webHookOf,
  withDestination,
} from './values.ts'

export type LookedUp =
  | { readonly kind: 'found'; readonly properties: SubscriptionProperties }
  /** `certain`: the list of the source does not have the event subscription either. Else that list could not be read. */
  | { readonly kind: 'missing'; readonly certain: boolean }

/** `plain` leaves out what ARM hides (the query of the URL, secret attributes), which takes up to three more requests. */
export type Detail = 'whole' | 'plain'

/** Reads with the detail `whole`. If the client's role may not read the hidden values (403), reads with the detail `plain`. */
export async function asPermitted<T>(read: (detail: Detail) => Promise<T>) {
  try {
    return { found: await read('whole'), isPlain: false }
  } catch (error) {
    if (codeOfFailure(readFailure(error, 0)) !== 'PERMISSION_DENIED') throw error
    return { found: await read('plain'), isPlain: true }
  }
}

/** Pause before an event subscription that is said to be missing is looked up again. */
const secondLookMs = 2_000

/** Reads the event subscription; `undefined` where it does not exist. Where the list may not be read, ARM is asked twice. */
export async function readSubscription(
  arm: Arm,
  place: SubscriptionPlace,
  limits: CallLimits,
  detail: Detail = 'whole',
): Promise<SubscriptionProperties | undefined> {
  let found = await lookUp(arm, place, limits, detail)
  if (found.kind === 'missing' && !found.certain) {
    const message = 'the event subscription is said to be missing, and was not looked up again in time'
    await pauseWithin(limits, { clock: arm.clock, ms: secondLookMs, message })
    found = await lookUp(arm, place, limits, detail)
  }
  return found.kind === 'found' ? found.properties : undefined
}

/**
 * Looks once, without a second opinion where the list may not be read. Rejects where ARM does not answer, and where a 404 cannot be
 * believed: a write by mistake would wipe what the operator set.
 */
export async function lookUp(
  arm: Arm,
  place: SubscriptionPlace,
  limits: CallLimits,
  detail: Detail,
): Promise<LookedUp> {
  let properties: SubscriptionProperties
  try {
    properties = propertiesOf(await arm.ask({ path: subscriptionIdOf(place) }, limits))
  } catch (error) {
    if (!isMissingInWords(error)) throw error
    return { kind: 'missing', certain: await isAbsentFromList(arm, place, limits) }
  }
  // The event subscriptions of a namespace topic have no calls that tell more.
  const isAll = detail === 'plain' || place.kind === 'namespaceTopic' || isChanging(properties)
  return { kind: 'found', properties: isAll ? properties : await withHidden(properties, arm, place, limits) }
}

function propertiesOf(answer: unknown): SubscriptionProperties {
  const read = readSubscriptionProperties(answer)
  if ('properties' in read) return read.properties
  throw unreadable(`it is not an event subscription (${read.fault}); a proxy may have answered instead of ARM`)
}

/** ARM itself says that there is no event subscription. For a missing scope ARM has another code. */
const isMissingInWords = (error: unknown) => readFailure(error, 0).kind === 'notFound'

/**
 * Whether the list of the source has no such event subscription either; false where the list may not be read.
 *
 * @throws ArmFailureError of a passing kind where the list has the event subscription
 */
async function isAbsentFromList(arm: Arm, place: SubscriptionPlace, limits: CallLimits): Promise<boolean> {
  const get = (path: string) => arm.ask({ path }, limits)
  try {
    for (const entry of await readList(get, place.listPath, 'event subscriptions')) {
      if (isListedAs(entry, place)) throw unreadable('the event subscription is listed, and said not to exist')
    }
    return true
  } catch (error) {
    if (readFailure(error, 0).status === 403) return false
    // The source seems to be missing too. A namespace topic has to be there; a topic of a domain comes with its first event subscription.
    if (place.kind !== 'namespaceTopic' && isMissingInWords(error)) return false
    throw error
  }
}

/** An entry that cannot be read may be the very event subscription that is looked for. */
function isListedAs(entry: unknown, place: SubscriptionPlace): boolean {
  if (!isRecord(entry) || typeof entry.id !== 'string' || typeof entry.name !== 'string') {
    throw unreadable('it is not a list of event subscriptions')
  }
  const same = (value: string, wanted: string) => value.toLowerCase() === wanted.toLowerCase()
  return place.listsOthers ? same(entry.id, subscriptionIdOf(place)) : same(entry.name, place.name)
}

async function withHidden(
  properties: SubscriptionProperties,
  arm: Arm,
  place: SubscriptionPlace,
  limits: CallLimits,
  isAgain = false,
): Promise<SubscriptionProperties> {
  const destination = destinationOf(properties)
  const webHook = webHookOf(properties)
  const attributes = destination?.properties?.deliveryAttributeMappings ?? []
  const hidesValue = attributes.some((attribute) => attribute.properties?.isSecret === true || !isValueKnown(attribute))
  if (destination?.endpointType === undefined || !(webHook || hidesValue)) return properties
  const id = subscriptionIdOf(place)
  // The event subscription was found a moment ago. So a 404 is no reason to create one: it would wipe what the operator set.
  const ask = (request: Parameters<Arm['ask']>[0]) =>
    arm.ask(request, limits).catch((error: unknown) => {
      throw isMissingInWords(error) ? unreadable('the event subscription was found, and is said not to exist') : error
    })
  const tell = (action: string) => ask({ method: 'POST', path: `${id}/${action}` })
  const [full, revealed] = await Promise.all([
    webHook && tell('getFullUrl'),
    hidesValue ? tell('getDeliveryAttributes') : undefined,
  ])
  // Both calls are answered later than the first read. Where a change began in between, they tell new settings, which do not deliver yet.
  const later = hidesValue ? propertiesOf(await ask({ path: id })) : properties
  if (isChanging(later)) return later
  // A change began and ended in between: a write by the first read would take it back. Once, as an answer may differ each time.
  if (!isAgain && !isDeepStrictEqual(later, properties)) return withHidden(later, arm, place, limits, true)
  // What these calls do not tell would look like a difference, and be written back.
  const url = isRecord(full) && typeof full.endpointUrl === 'string' && full.endpointUrl
  if (webHook && !url) throw unreadable('it is not the URL of an endpoint; a proxy may have answered instead of ARM')
  if (hidesValue && !isRecord(revealed))
    throw unreadable('it is not a list of delivery attributes; a proxy may have answered instead of ARM')
  const deliveryAttributeMappings = joinValues(attributes, readAttributes(revealed))
  if (deliveryAttributeMappings.some((one) => isOurAttribute(one) && !isValueKnown(one)))
    throw unreadable(`it does not tell the delivery attribute ${deliveryTokenHeader}`)
  const whole = { ...destination.properties, ...(url && { endpointUrl: url }), deliveryAttributeMappings }
  const { endpointType } = destination
  return { ...properties, ...withDestination(properties, { ...destination, endpointType, properties: whole }) }
}

/** The attributes. Values that the plain read hides come from a call of their own. */
function joinValues(
  attributes: readonly DeliveryAttribute[],
  revealed: readonly DeliveryAttribute[],
): DeliveryAttribute[] {
  return attributes.map((attribute) => {
    if (attribute.properties?.isSecret !== true && isValueKnown(attribute)) return attribute
    const named = revealed.find(({ name }) => name?.toLowerCase() === attribute.name?.toLowerCase())
    const { properties } = named ?? {}
    const value = properties?.value || attribute.properties?.value
    return properties ? { ...attribute, properties: { ...properties, ...attribute.properties, value } } : attribute
  })
}

/** A PUT holds the whole event subscription, a PATCH the top-level fields to replace. Holds secrets. */
export interface SubscriptionWrite {
  readonly method: 'PUT' | 'PATCH'
  readonly properties: Readonly<Record<string, unknown>>
}

/** Longest pause between two polls, unless ARM asks for another one. */
const pollIntervalMs = 2_000

/** Longest pause between two polls, whatever ARM asks for. */
const maxPollMs = 60_000

/** Most operations end within so many polls. After that the event subscription itself is read as well. */
const pollsBeforeReading = 2

/**
 * Starts the write and polls its operation until it ends. The SDK's own loop has no deadline, and polls for ever while Event Grid waits for
 * manual validation.
 */
export async function writeSubscription(
  arm: Arm,
  place: SubscriptionPlace,
  { method, properties }: SubscriptionWrite,
  limits: CallLimits,
): Promise<void> {
  const { clock } = arm
  const path = subscriptionIdOf(place)
  const isWrapped = method === 'PUT' || place.kind === 'namespaceTopic'
  const body = isWrapped ? { properties } : properties
  let last: PipelineResponse | undefined
  async function send(request: ArmRequest, within = limits): Promise<LroResponse> {
    last = await arm.send(request, within)
    const { status: statusCode, headers, bodyAsText } = last
    const answer = readJson(bodyAsText)
    if (bodyAsText && !isRecord(answer))
      throw unreadable('it is no JSON object; a proxy may have answered instead of ARM')
    return { flatResponse: answer, rawResponse: { statusCode, headers: headers.toJSON(), body: answer } }
  }
  const operation = new LroEngine({
    requestMethod: method,
    requestPath: path,
    sendInitialRequest: () => untilAnswered(limits, clock, (within) => send({ method, path, body }, within)),
    sendPollRequest: (url) => send({ path: url }),
  })
  try {
    // The first poll sends the request itself.
    for (let polls = 0; ; polls++) {
      await operation.poll()
      if (operation.isDone()) return
      // The operation itself only says that it is under way, for minutes.
      const awaits = awaitsManualAction(readJson(last?.bodyAsText))
      if (awaits || (polls >= pollsBeforeReading && awaitsManualAction(await arm.ask({ path }, limits)))) {
        throw new ArmFailureError({ kind: 'manual', message: 'Event Grid waits for manual validation' })
      }
      const message = 'Azure accepted the change of the event subscription and did not complete it in time'
      await pauseWithin(limits, { clock, ms: decidePollPause(last, polls, clock.now()), message })
    }
  } catch (error) {
    throw writeFailure(error, last, clock.now())
  }
}

const awaitsManualAction = (resource: unknown) => propertiesIn(resource).provisioningState === 'AwaitingManualAction'

function decidePollPause(answer: PipelineResponse | undefined, polls: number, now: number): number {
  const asked = answer && readRetryAfter((name) => answer.headers.get(name), now)
  if (asked !== undefined) return Math.min(asked, maxPollMs)
  return Math.min(pollIntervalMs, (pollIntervalMs / 10) * 2 ** polls)
}

/** @param last the last answer other than a refusal; present where ARM accepted the write */
function writeFailure(error: unknown, last: PipelineResponse | undefined, now: number): unknown {
  const failure = readFailure(error, now)
  const reported = failure.isOperation ? readOperationFailure(last?.bodyAsText) : undefined
  if (reported) return new ArmFailureError(reported)
  // A status that can't be read, or is gone, says nothing about the scope or the role.
  if (last && failure.status !== undefined) return new ArmFailureError({ ...failure, kind: 'lost' })
  return error
}
