// Running the webhook handshake: OPTIONS or POST, repetition after time-out or while it waits, validation URL and token.
import { randomBytes, randomUUID } from 'node:crypto'
import { pause, systemClock } from '../../../../../src/support/time/clock.ts'
import type { AskAgain, Asking, ValidationOutcome } from '../../model/events/accepted-event.ts'
import type { EventSubscription } from '../../model/resources/event-subscription.ts'
import type { Clock } from '../../model/time/clock.ts'
import { preciseTime } from '../../model/wording.ts'
import type { HandshakeRecord } from '../../records/record-types.ts'
import type { DeliveryOptions } from '../delivery-options.ts'
import type { WebhookResult } from '../send/channel.ts'
import { deliverySchemaOf, shownAnswer, shownUrl, webhookOf } from '../send/delivery-request.ts'
import type { WebhookClient } from '../send/webhook-client.ts'
import {
  consentMissing,
  cutPauseMs,
  handshakeMessage,
  judgeOptionsAnswer,
  judgeValidationAnswer,
  optionsHeaders,
  validationEvent,
  validationHeaders,
  validationPauseMs,
  validationTopic,
} from './handshake.ts'

/** How often the same answer of an endpoint is told of, in milliseconds. */
const toldAgainMs = 60_000

/** Runs handshakes, and holds the validation URLs that were not called yet. */
export function createValidator(options: DeliveryOptions, client: Pick<WebhookClient, 'send'>) {
  const { clock, records, work } = options
  const { manualValidationTimeout, answerTimeout } = options.settings
  const open = createOpenValidations(clock, manualValidationTimeout)
  /** By the settings that were written: another write is told of at once. */
  const lastTold = new WeakMap<EventSubscription['properties'], HandshakeRecord>()

  function messageOf(method: 'OPTIONS' | 'POST', url: URL, { status, failure }: WebhookResult): string {
    const said = handshakeMessage(method, url, status, { activityId: randomUUID(), at: clock.now() })
    return failure?.hint === undefined ? said : `${said} Emulator: ${failure.hint}.`
  }

  return {
    async validate(
      subscription: EventSubscription,
      signal: AbortSignal,
      { over, again }: Asking,
    ): Promise<ValidationOutcome> {
      const webhook = webhookOf(subscription)
      if (!webhook) return { outcome: 'validated' }
      const id = randomUUID().toUpperCase()
      const token = randomBytes(32).toString('base64')
      const url = new URL(webhook.endpointUrl)
      const validationUrl = validationUrlOf(options, subscription.name, id, token)
      // Before the request is sent: an endpoint may call the URL as soon as it has the request.
      const completed = open.add(id, token)
      const method = deliverySchemaOf(subscription) === 'CloudEventSchemaV1_0' ? 'OPTIONS' : 'POST'
      const headers = method === 'OPTIONS' ? optionsHeaders(validationUrl) : validationHeaders(subscription.name)

      const untilMs = clock.now() + manualValidationTimeout
      let told: HandshakeRecord | undefined

      async function attempt() {
        const at = clock.now()
        const topic = validationTopic(subscription.scope)
        const body = method === 'POST' ? validationEvent(at, topic, { validationCode: id, validationUrl }) : undefined
        const result = await client.send({
          ...{ method, url, headers, signal },
          timeoutMs: answerTimeout,
          readAnswer: true,
          ...(body !== undefined && { body }),
        })
        const verdict = method === 'OPTIONS' ? judgeOptionsAnswer(result) : judgeValidationAnswer(result, id)
        const message = verdict === 'failed' ? messageOf(method, url, result) : undefined
        const missing = consentMissing(method, result.status, { untilMs, pauseMs: again?.pauseMs })
        const failed = result.failure ? `${message} (${result.failure.message})` : message
        const because = verdict === 'awaiting-manual-action' ? missing : failed
        tell({
          at,
          subscriptionId: subscription.id,
          subscriptionName: subscription.name,
          method,
          url: shownUrl(url),
          target: shownUrl(new URL(result.target)),
          requestHeaders: headers,
          ...(body !== undefined && { requestBody: body }),
          ...(result.status !== undefined && { status: result.status }),
          ...shownAnswer(result, [url, new URL(result.target)]),
          outcome: verdict,
          ...(because !== undefined && { message: because }),
        })
        const isLate = result.failure?.outcome === 'TimedOut'
        return {
          verdict,
          message: message ?? '',
          isLate,
          isCut: result.failure?.outcome === 'SocketError' && result.failure.hint === undefined,
        }
      }

      /** An endpoint that answers the same again and again is told of once a minute. */
      function tell(record: HandshakeRecord): void {
        told = record
        const last = lastTold.get(subscription.properties)
        const isSame = last?.outcome === record.outcome && last.status === record.status
        if (isSame && record.at - last.at < toldAgainMs) return
        lastTold.set(subscription.properties, record)
        records.handshakes.push(record)
      }

      async function askAgain({ next }: AskAgain): Promise<void> {
        while (open.has(id)) {
          const answered = await next()
          const isAsked = !signal.aborted && !over.aborted && open.has(id)
          if (isAsked && (await attempt()).verdict === 'validated') {
            open.confirm(id, token)
            await completed
          }
          answered()
          if (!isAsked) return
        }
      }

      /** How the wait ended: nobody asked the endpoint then, so this is told apart from its answers. */
      function tellEnd(outcome: 'validated' | 'expired'): void {
        if (told === undefined || told.outcome === 'validated' || over.aborted) return
        const message =
          outcome === 'validated' ? 'Its validation URL was called.' : 'Its validation URL was not called in time.'
        records.handshakes.push({
          ...told,
          at: clock.now(),
          outcome: outcome === 'validated' ? 'validated' : 'failed',
          message,
        })
      }

      let last = await attempt()
      // A listener that restarts or hands over its port refuses or resets one connection (the emulator's choice: no source says).
      if (last.isCut && !signal.aborted) {
        await pause(systemClock, cutPauseMs, signal)
        last = await attempt()
      }
      // Only a validation event without an answer in time is sent again (Event Grid:
      // end-point-validation-event-grid-events-schema).
      if (method === 'POST' && last.isLate && !signal.aborted) {
        await work.pause(clock, validationPauseMs, signal)
        last = await attempt()
      }
      if (last.verdict === 'awaiting-manual-action') {
        void completed.then(tellEnd)
        if (again) void askAgain(again)
        return { outcome: 'awaiting-manual-action', validationUrl, completed }
      }
      open.expire(id)
      if (last.verdict === 'validated') return { outcome: 'validated' }
      return { outcome: 'failed', code: 'Url validation', message: last.message }
    },
    confirm: open.confirm,
    close: open.close,
  }
}

/** The validation URLs that were not called yet. */
function createOpenValidations(clock: Clock, validMs: number) {
  const open = new Map<string, { readonly token: string; settle(outcome: 'validated' | 'expired'): void }>()
  return {
    /** Resolves when the URL is called, or when it expires. */
    add(id: string, token: string): Promise<'validated' | 'expired'> {
      return new Promise((resolve) => {
        const settle = (outcome: 'validated' | 'expired') => {
          cancelTimer()
          open.delete(id)
          resolve(outcome)
        }
        const cancelTimer = clock.setTimer(validMs, () => settle('expired'))
        open.set(id, { token, settle })
      })
    },
    /** Handles a call of a validation URL; false if the URL is unknown or expired. */
    confirm(id: string, token: string): boolean {
      const waiting = open.get(id.toUpperCase())
      if (!waiting || waiting.token !== token) return false
      waiting.settle('validated')
      return true
    },
    has: (id: string) => open.has(id),
    expire: (id: string) => open.get(id)?.settle('expired'),
    close() {
      for (const waiting of [...open.values()]) waiting.settle('expired')
    },
  }
}

function validationUrlOf(options: DeliveryOptions, name: string, id: string, token: string): string {
  const url = new URL(`/eventsubscriptions/${encodeURIComponent(name.toLowerCase())}/validate`, options.baseUrl())
  url.search = String(
    new URLSearchParams({ id, t: preciseTime(options.clock.now()), apiVersion: '2025-04-01-preview', token }),
  )
  return url.href
}
