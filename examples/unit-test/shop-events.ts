/** A shop's handler of several kinds of event: Azure's own, typed by name, and the shop's, validated by a schema. */
import { type EventRouter, routeEvents } from 'eventgrid-binding'
import { z } from 'zod'

const order = z.object({ order: z.string(), article: z.string() })

export interface Shop {
  readonly pictures: Set<string>
  readonly orders: Map<string, string>
}

export const shopEvents = ({ pictures, orders }: Shop): EventRouter =>
  routeEvents()
    .on('Microsoft.Storage.BlobCreated', ({ cloudEvent: { data } }) => {
      if (data.contentType?.startsWith('image/') && data.url !== undefined) pictures.add(data.url)
    })
    .on('order.placed', order, ({ cloudEvent: { data } }) => void orders.set(data.order, data.article))
    .on('order.cancelled', order, ({ cloudEvent: { data } }) => void orders.delete(data.order))
    .otherwise('ignore')
