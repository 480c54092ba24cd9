/** How a refusal of the interface looks: `application/problem+json`, RFC 9457. */
import { STATUS_CODES } from 'node:http'
import { z } from 'zod'
import { publishedEvent } from './answers.ts'

export const problemType = 'application/problem+json; charset=utf-8'

/** More that a refusal says: the faults of a request, or what is pending. */
type Extension = Readonly<Record<string, unknown>>

/** A refusal, thrown by what answers a request. */
export class TestInterfaceProblem extends Error {
  readonly status: number
  readonly more: Extension

  constructor(status: number, detail: string, more: Extension = {}) {
    super(detail)
    this.status = status
    this.more = more
  }
}

/** The body of a refusal. */
export const problemBody = (status: number, detail: string, more: Extension = {}) => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
  ...more,
})

const text = z.string()
const maybe = <Schema extends z.ZodType>(schema: Schema) => z.exactOptional(schema)

/** What the OpenAPI document says of each refusal. */
export const problem = z.strictObject({
  type: text,
  title: text,
  status: z.int(),
  detail: text,
  errors: maybe(
    z
      .array(z.strictObject({ field: text, message: text }))
      .describe('The faults of the request, by the names of its fields; empty for the body itself'),
  ),
  pending: maybe(
    z
      .array(z.strictObject({ subscription: text, subscriptionId: text, topic: text, detail: text }))
      .describe('What was pending when the time was over'),
  ),
  unserved: maybe(
    z
      .array(z.strictObject({ subscription: text, subscriptionId: text, because: text, events: z.int().min(0) }))
      .describe('The event subscriptions that did not get events that they match'),
  ),
  events: maybe(z.array(publishedEvent).describe('The events that were there when the time was over')),
})
