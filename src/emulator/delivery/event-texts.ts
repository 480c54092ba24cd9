import type { AcceptedEvent } from '../model/accepted-event.ts'
import { deliveredForm } from '../model/convert-schema.ts'
import type { DeliverySchema } from '../model/model.ts'

/** Events as they go out; each is written once per schema, however many subscriptions and tries there are. */
export interface EventTexts {
  text(event: AcceptedEvent, schema: DeliverySchema): string
}

/** Makes the memory of event texts; it holds a text as long as its event. */
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
