import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { openBroker } from '../../packages/emulator/test/support/amqp-broker.ts'
import { startProgram } from './program.ts'
import { lastLine, preparePython, pythonOf, pythonSources } from './python-environment.ts'
import type { Step, Witness } from './witness.ts'

/** Azure's SDK for Python, which has its own implementation of AMQP, as the receiver of what the emulator sends to Service Bus. */
export const pythonBrokers: Witness = {
  name: "Azure's Python SDK for Service Bus",
  prepare: () => preparePython('python-brokers', 'requirements-brokers.txt'),
  run,
}

const event = { specversion: '1.0', id: 'e1', source: '/shop', type: 'Order.Placed', data: { name: 'café' } }
const providers = '/subscriptions/1/resourceGroups/rg/providers'
const destinations = {
  queue: ['ServiceBusQueue', `${providers}/Microsoft.ServiceBus/namespaces/shop/queues/orders`],
  topic: ['ServiceBusTopic', `${providers}/Microsoft.ServiceBus/namespaces/shop/topics/news`],
} as const

async function run(): Promise<readonly Step[]> {
  const { connectionString, cut } = await openBroker('orders', 'news')
  try {
    await deliver(connectionString)
    const program = startProgram(pythonOf('python-brokers'), [join(pythonSources, 'brokers.py')], {
      timeoutMs: 120_000,
      env: { CONNECTION_STRING: connectionString, EVENT: JSON.stringify(event), PYTHONDONTWRITEBYTECODE: '1' },
    })
    program.end()
    const steps: Step[] = []
    // Only brokers.py writes these lines, and each has this shape.
    for await (const line of program.lines) steps.push(JSON.parse(line) as Step)
    const { code, stderr } = await program.ended
    return code === 0 ? steps : [...steps, { step: 'brokers.py runs to its end', error: lastLine({ stderr }) }]
  } finally {
    await cut()
  }
}

/** Has an emulator send the event to each of the destinations. */
async function deliver(connectionString: string): Promise<void> {
  await using emulator = await EventGridEmulator.start({
    serviceBus: [{ connectionString }],
    eventSubscriptions: Object.entries(destinations).map(([name, [endpointType, resourceId]]) => {
      const deliveryAttributeMappings = [
        { name: 'SessionId', type: 'Dynamic', properties: { sourceField: 'type' } },
        { name: 'shop', type: 'Dynamic', properties: { sourceField: 'data.name' } },
      ]
      const destination = { endpointType, properties: { resourceId, deliveryAttributeMappings } }
      return { name, topic: 'orders', properties: { eventDeliverySchema: 'CloudEventSchemaV1_0', destination } }
    }),
  })
  await emulator.idle()
  emulator.raise('orders', [event])
  await emulator.settled({ timeout: 30_000 })
}
