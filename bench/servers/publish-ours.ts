// Callers of `create` of our binding.
import { Binding, type Endpoints } from 'eventgrid-binding'
import { cloudEvent } from '../events.ts'
import { say, setup } from './json-lines.ts'
import { takeOrders } from './publish-loop.ts'

const { endpoints, metadata } = setup<{ endpoints: Endpoints; metadata: Readonly<Record<string, string>> }>()
const binding = new Binding({ endpoints })
await binding.init(metadata)
// As hosts hand it on: the bytes that the application has sent.
const payload = Buffer.from(JSON.stringify(cloudEvent('e-0000000001', 1_024)))
say({})
await takeOrders(1, () => binding.invoke('create', payload))
