const encoder = new TextEncoder()

interface Line {
  readonly sku: string
  readonly quantity: number
  readonly price: number
  readonly gift: boolean
  readonly name: string
}

const line = (index: number): Line => ({
  sku: `sku-${10_000 + index}`,
  quantity: 1 + (index % 5),
  price: 9.95 + index,
  gift: index % 3 === 0,
  name: 'Stroopwafels, 10 pièces',
})

/** A CloudEvent of the benchmark. */
interface BenchEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject: string
  readonly time: string
  readonly datacontenttype: string
  readonly data: unknown
}

/**
 * An order as a CloudEvent of exactly so many bytes of JSON: lines of an order, as many as there is room for, and a note
 * that fills up the rest.
 */
export function cloudEvent(id: string, bytes: number): BenchEvent {
  const event = (lines: readonly Line[], note: string): BenchEvent => ({
    specversion: '1.0',
    id,
    source: '/shop/orders',
    type: 'Order.Placed',
    subject: 'orders/4711',
    time: '2026-01-05T14:07:09.123Z',
    datacontenttype: 'application/json',
    data: { customer: 'c-17', currency: 'EUR', lines, note },
  })
  const size = (value: unknown) => encoder.encode(JSON.stringify(value)).length
  const [empty, one] = [size(event([], '')), size(line(0)) + 4]
  const lines = Array.from({ length: Math.max(0, Math.floor((bytes - empty) / one) - 1) }, (_, index) => line(index))
  return event(lines, 'x'.repeat(Math.max(0, bytes - size(event(lines, '')))))
}

/** The body of one delivery: one event, or several in an array. */
export function deliveryBody({ bytes, batch }: { bytes: number; batch: number }): string {
  if (batch === 1) return JSON.stringify(cloudEvent('e-0000000001', bytes))
  return JSON.stringify(Array.from({ length: batch }, (_, index) => cloudEvent(`e-${1_000_000_000 + index}`, bytes)))
}
