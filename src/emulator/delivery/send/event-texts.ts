// An event's JSON text per delivery schema, cached for all subscriptions and attempts.
import type { AcceptedEvent } from '../../model/events/accepted-event.ts'
import { deliveredForm } from '../../model/events/convert-schema.ts'
import type { DeliverySchema } from '../../model/resources/model.ts'

/** The JSON texts of events. Each is made once per schema, for all subscriptions and attempts, and stays as long as its event. */
export type EventTexts = ReturnType<typeof createEventTexts>

export function createEventTexts() {
  const known = new WeakMap<AcceptedEvent, Map<DeliverySchema, string>>()
  return {
    text(event: AcceptedEvent, schema: DeliverySchema): string {
      const texts = known.get(event) ?? new Map<DeliverySchema, string>()
      known.set(event, texts)
      const text = texts.get(schema) ?? JSON.stringify(deliveredForm(event, schema))
      texts.set(schema, text)
      return text
    },
  }
}
