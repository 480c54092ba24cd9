/** Event Grid's handshake as requests: OPTIONS with its origin, and the validation event of its own schema. */
import { randomUUID } from 'node:crypto'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import type { Probe } from '../../support/net/probe.ts'

export type HandshakeRequest = Pick<Probe, 'method' | 'headers' | 'body'>

/** Header of the consent of a replica that is not ready for deliveries. Event Grid does not read it; other replicas do. */
export const notReadyHeader = 'x-eventgrid-binding-not-ready'

/** Of events as CloudEvents (Event Grid: end-point-validation-cloud-events-schema). */
export function optionsRequest({ environment }: Pick<InputMetadata, 'environment'>): HandshakeRequest {
  return { method: 'OPTIONS', headers: { 'webhook-request-origin': environment.eventGridOrigin } }
}

/** Of events in Event Grid's schema (Event Grid: end-point-validation-event-grid-events-schema). The answer must have the code. */
export function validationRequest(
  { eventSubscriptionName, scope }: Pick<InputMetadata, 'eventSubscriptionName' | 'scope'>,
  validationCode: string,
): HandshakeRequest {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'aeg-event-type': 'SubscriptionValidation',
      'aeg-subscription-name': eventSubscriptionName.toUpperCase(),
      'aeg-delivery-count': '0',
      'aeg-data-version': '2',
      'aeg-metadata-version': '1',
    },
    body: JSON.stringify([
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
    ]),
  }
}
