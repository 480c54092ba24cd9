// Imitates Event Grid's handshake: OPTIONS and validation event, `aeg-*` headers sent.
import { randomUUID } from 'node:crypto'
import { secureContextOf } from '../../../azure/trust.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import type { InputMetadata } from '../../../metadata/typed/metadata.ts'
import { type Probe, probe, type Target } from './probe.ts'

export type EndpointAnswers = Awaited<ReturnType<typeof probeEndpoint>>

export interface ProbeEndpointOptions {
  readonly input: InputMetadata
  /** All addresses of its name; the first that answers is asked. */
  readonly targets: readonly Target[]
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
}

/**
 * Asks as Event Grid does (Event Grid: end-point-validation-cloud-events-schema, end-point-validation-event-grid-events-schema).
 * Rejects where no address answers, with the error of the first.
 */
export async function probeEndpoint(options: ProbeEndpointOptions) {
  const { input, targets, endpoints, signal } = options
  const shared = { url: new URL(input.subscriberEndpoint), secureContext: secureContextOf(endpoints), signal }
  const code = randomUUID()
  let first: unknown
  for (const target of targets) {
    const ask = (request: Pick<Probe, 'method' | 'headers' | 'body'>) => probe({ ...shared, target, ...request })
    try {
      const [health, options, validation] = await Promise.all([
        ask({ method: 'OPTIONS' }),
        ask({ method: 'OPTIONS', headers: { 'webhook-request-origin': input.environment.eventGridOrigin } }),
        ask({ method: 'POST', headers: validationHeaders(input), body: validationEvent(input, code) }),
      ])
      /** `code`: what the answer to the validation event must have. */
      return { health, options, validation, code }
    } catch (error) {
      first ??= error
    }
  }
  throw first ?? new Error('the name has no address')
}

function validationHeaders({ eventSubscriptionName }: InputMetadata): Record<string, string> {
  return {
    'content-type': 'application/json; charset=utf-8',
    'aeg-event-type': 'SubscriptionValidation',
    'aeg-subscription-name': eventSubscriptionName.toUpperCase(),
    'aeg-delivery-count': '0',
    'aeg-data-version': '2',
    'aeg-metadata-version': '1',
  }
}

function validationEvent({ scope }: InputMetadata, validationCode: string): string {
  return JSON.stringify([
    {
      id: randomUUID(),
      topic: scope.id,
      subject: '',
      data: { validationCode },
      eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
      eventTime: new Date().toISOString(),
      metadataVersion: '1',
      dataVersion: '2',
    },
  ])
}
