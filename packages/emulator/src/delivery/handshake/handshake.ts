// Webhook validation: 30 s time-out, 10 minutes manual, `webhook-allowed-origin`, validation event, failure text.
import { randomUUID } from 'node:crypto'
import { readJson } from '../../../../../src/support/text/json-text.ts'
import { ownField } from '../../model/events/event-text.ts'
import { dotNetTime, preciseTime, statusName } from '../../model/wording.ts'
import type { WebhookResult } from '../send/channel.ts'
import { eventGridOrigin } from '../send/delivery-request.ts'

/** Pause before a timed-out validation event is sent once more. The pause and the number are the emulator's choice. */
export const validationPauseMs = 5_000

/**
 * Pause before an endpoint is asked once more that could not be connected to, or closed the connection, in real ms. The emulator's
 * choice.
 */
export const cutPauseMs = 500

/** How long a validation URL is valid (Event Grid: end-point-validation-event-grid-events-schema, 2024). */
export const manualValidationMs = 10 * 60_000

type HandshakeAnswer = Pick<WebhookResult, 'status' | 'headers' | 'body'>

export type HandshakeVerdict = 'validated' | 'awaiting-manual-action' | 'failed'

/** Headers of the OPTIONS request. `callback` is the URL that validates later. */
export function optionsHeaders(callback: string): Record<string, string> {
  return {
    'webhook-request-origin': eventGridOrigin,
    'webhook-request-callback': callback,
    'accept-encoding': 'gzip, deflate',
  }
}

/**
 * Judges the answer to OPTIONS: a status alone does not validate. After success without the header the callback may
 * validate; a header that allows another origin is a refusal (the emulator's choice: no source says).
 */
export function judgeOptionsAnswer(answer: HandshakeAnswer): HandshakeVerdict {
  if (answer.status === undefined || answer.status < 200 || answer.status > 299) return 'failed'
  const allowed = answer.headers?.['webhook-allowed-origin']?.trim()
  if (!allowed) return 'awaiting-manual-action'
  const names = allowed.split(',').map((name) => name.trim().toLowerCase())
  return names.includes('*') || names.includes(eventGridOrigin) ? 'validated' : 'failed'
}

/** The source's id as Event Grid's own events show it: the provider is in lower case (recorded validation events). */
export const validationTopic = (scope: string): string =>
  scope.replace(/\/providers\/Microsoft\.EventGrid\//gi, '/providers/microsoft.eventgrid/')

/** The validation event of the Event Grid and the custom schema, as the body of a POST. */
export function validationEvent(
  at: number,
  topic: string,
  data: { readonly validationCode: string; readonly validationUrl: string },
): string {
  const event = {
    id: randomUUID(),
    topic,
    subject: '',
    data,
    eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
    eventTime: preciseTime(at),
    metadataVersion: '1',
    dataVersion: '2',
  }
  return JSON.stringify([event])
}

export function validationHeaders(subscriptionName: string): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'aeg-subscription-name': subscriptionName.toUpperCase(),
    'aeg-delivery-count': '0',
    'aeg-data-version': '2',
    'aeg-metadata-version': '1',
    'aeg-event-type': 'SubscriptionValidation',
  }
}

/**
 * Judges the answer to the validation event: 200 with the code validates; after 200 without it the validation URL
 * may validate; 202 is a failure.
 */
export function judgeValidationAnswer(answer: HandshakeAnswer, validationCode: string): HandshakeVerdict {
  if (answer.status !== 200) return 'failed'
  const response = ownField(readJson(answer.body), 'validationResponse')
  return response === validationCode ? 'validated' : 'awaiting-manual-action'
}

/** What an endpoint left out that answered, but has not consented, and what it may still do. */
export function consentMissing(
  method: 'OPTIONS' | 'POST',
  status: number | undefined,
  { untilMs, pauseMs }: { readonly untilMs: number; readonly pauseMs: number | undefined },
): string {
  const [lacks, later] =
    method === 'OPTIONS'
      ? [`the header WebHook-Allowed-Origin (${eventGridOrigin} or *)`, 'the URL of WebHook-Request-Callback']
      : ['validationResponse with the validation code', 'the validationUrl of the event']
  const again = pauseMs === undefined ? 'It is not asked again.' : `It is asked again every ${pauseMs / 1000} s.`
  return `The answer ${status} lacks ${lacks}, which is the consent. Waits until ${dotNetTime(untilMs)} (UTC) for a call of ${later}. ${again}`
}

/** The error of a failed handshake, in Event Grid's words and spelling, with the URL without its query. */
export function handshakeMessage(
  method: 'OPTIONS' | 'POST',
  { origin, pathname }: URL,
  status: number | undefined,
  { activityId, at }: { readonly activityId: string; readonly at: number },
): string {
  const page = method === 'OPTIONS' ? 'esvalidationcloudevent' : 'esvalidation'
  return (
    `Webhook validation handshake failed for ${origin}${pathname}. Http ${method} request failed with response code ` +
    `${statusName(status)}. For troublehooting, visit https://aka.ms/${page}. ` +
    `Activity id:${activityId}, timestamp: ${dotNetTime(at)} (UTC).`
  )
}
