// The SDK alone: one event a call, or full batches, which is the most that it can do.
import { AzureKeyCredential, EventGridPublisherClient, type SendCloudEventInput } from '@azure/eventgrid'
import { cloudEvent } from '../events.ts'
import { say, setup } from './json-lines.ts'
import { takeOrders } from './publish-loop.ts'

const { endpoint, ca, key, batch } = setup<{ endpoint: string; ca: string; key: string; batch: number }>()
const client = new EventGridPublisherClient(endpoint, 'CloudEvent', new AzureKeyCredential(key), { tlsOptions: { ca } })
const { data, subject } = cloudEvent('e-0000000001', 1_024)
const events = Array.from(
  { length: batch },
  (_, index): SendCloudEventInput<unknown> => ({
    id: `e-${1_000_000_000 + index}`,
    source: '/shop/orders',
    type: 'Order.Placed',
    subject,
    time: new Date('2026-01-05T14:07:09.123Z'),
    datacontenttype: 'application/json',
    data,
  }),
)
say({})
await takeOrders(batch, () => client.send(events))
