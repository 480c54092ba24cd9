import { EventGridEmulator } from '../../src/emulator/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import { goSteps, prepareGo } from './go-program.ts'
import type { Step, Witness } from './witness.ts'

const folder = 'go-namespaces'

/** Azure's Go client of namespaces: publish, receive and all settlements. */
export const goNamespaces: Witness = { name: "Azure's Go SDK of namespaces", prepare: () => prepareGo(folder), run }

async function run(): Promise<readonly Step[]> {
  await using emulator = await EventGridEmulator.start({
    // Delays of a release and waits for an empty queue are ten seconds at least.
    clock: startAcceleratedClock(10),
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Data Sender' }, { role: 'EventGrid Data Receiver' }] }],
  })
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const topic = emulator.namespaceTopic('orders')
  return await goSteps(folder, emulator, {
    ...{ endpoint: topic.namespaceEndpoint, topic: topic.name, queue: 'app', key: topic.key },
    ...{ tenantId, clientId, clientSecret, authorityHost: endpoints.authorityHost },
  })
}
