import { type EventHandler, RejectEvent } from 'eventgrid-binding'

/** The application's own code: what it does with an order that was placed. */
export const confirmOrder =
  (confirmed: Set<string>, stock: { take(article: string): Promise<boolean> }): EventHandler =>
  async ({ cloudEvent: { data } }) => {
    if (!isOrder(data)) throw new RejectEvent('that is no order, and will never be one')
    if (!(await stock.take(data.article))) throw new Error(`${data.article} is out of stock for now`)
    confirmed.add(data.order)
  }

function isOrder(data: unknown): data is { order: string; article: string } {
  return typeof data === 'object' && data !== null && 'order' in data && 'article' in data
}
