import type { AcceptedEvent } from '../model/accepted-event.ts'
import { deliveredForm } from '../model/convert-schema.ts'
import type { DeliverySchema } from '../model/model.ts'

/** The JSON texts of events. Each is made once per schema, for all subscriptions and attempts. */
export interface EventTexts {
  text(event: AcceptedEvent, schema: DeliverySchema): string
}

export function createEventTexts(): EventTexts {
  const known = new WeakMap<AcceptedEvent, Map<DeliverySchema, string>>()
  return {
    text(event, schema) {
      let texts = known.get(event)
      if (!texts) {
        texts = new Map()
        known.set(event, texts)
      }
      let text = texts.get(schema)
      if (text === undefined) {
        text = JSON.stringify(deliveredForm(event, schema))
        texts.set(schema, text)
      }
      return text
    },
  }
}
