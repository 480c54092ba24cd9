import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { InputSchema } from '../../src/model/resources/resource.ts'
import { cloudEvent, errorOf, gridEvent, openEventGrid, publish } from '../event-grid.ts'

const schemas: readonly { readonly inputSchema: InputSchema; readonly good: Record<string, unknown> }[] = [
  { inputSchema: 'CloudEventSchemaV1_0', good: cloudEvent({ subject: 's', time: '2026-01-05T14:07:09Z' }) },
  { inputSchema: 'EventGridSchema', good: gridEvent({ metadataVersion: '1' }) },
  { inputSchema: 'CustomEventSchema', good: { subject: 's', eventType: 't' } },
]
const types = [
  'application/json',
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
  'text/plain',
  'x',
]

describe.each(schemas)('whatever is published to a topic of $inputSchema', ({ inputSchema, good }) => {
  it("is taken, or refused in Azure's shape, and what is taken is delivered", async () => {
    const grid = await openEventGrid({ topic: { inputSchema } })
    await grid.subscribe({ eventDeliverySchema: 'CloudEventSchemaV1_0' })
    const event = fc.oneof(
      fc.constant(good),
      fc.jsonValue(),
      fc.record({ field: fc.constantFrom(...Object.keys(good)), value: fc.jsonValue() }).map(({ field, value }) => ({
        ...good,
        [field]: value,
      })),
    )
    const body = fc.oneof(
      fc.string(),
      event.map((one) => JSON.stringify(one)),
      fc.array(event).map((list) => JSON.stringify(list)),
    )
    let taken = 0
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(...types), async (text, type) => {
        const answer = await publish(grid, text, { headers: { 'content-type': type } })
        if (answer.status === 200) {
          taken++
          return
        }
        expect([400, 401, 413, 415]).toContain(answer.status)
        await errorOf(answer)
      }),
      // Random ones alone were once all refused.
      { numRuns: 100, examples: types.map((type) => [JSON.stringify([good]), type]) },
    )
    await grid.emulator.idle()
    expect(taken).toBeGreaterThan(0)
    expect(grid.emulator.pending).toBe(0)
    expect(grid.records.deliveries.all().every(({ outcome }) => outcome === 'delivered')).toBe(true)
  })
})
