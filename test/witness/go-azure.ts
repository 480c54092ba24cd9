import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import { goSteps, prepareGo } from './go-program.ts'
import { portIngress } from './places.ts'
import type { Step, Witness } from './witness.ts'

const folder = 'go-azure'

/** Azure's SDKs for Go: armeventgrid manages, azeventgrid publishes, azidentity signs in. */
export const goAzure: Witness = { name: "Azure's Go SDKs", prepare: () => prepareGo(folder), run: manage }

/** Azure's Go client of namespaces: publish, receive and all settlements. */
export const goNamespaces: Witness = {
  name: "Azure's Go SDK of namespaces",
  prepare: () => prepareGo(folder),
  run: receive,
}

async function manage(): Promise<readonly Step[]> {
  await using emulator = await EventGridEmulator.start({
    ingress: portIngress,
    subscriptions: [{ resourceGroups: ['rg'] }],
    // A client that creates topics needs more roles than the binding does.
    clients: [{ roles: [{ role: 'Contributor' }, { role: 'EventGrid Data Sender' }] }],
    topics: [{ name: 'cloud' }, { name: 'grid', inputSchema: 'EventGridSchema' }],
  })
  const { tenantId, subscriptionId, clientId, clientSecret, endpoints, proxy } = emulator
  const { authorityHost, resourceManager } = endpoints
  return await goSteps(folder, emulator, {
    ...{ resourceManager, authorityHost, proxy, tenantId, subscriptionId, clientId, clientSecret },
    ...{ cloud: emulator.topic('cloud'), grid: emulator.topic('grid') },
  })
}

async function receive(): Promise<readonly Step[]> {
  await using emulator = await EventGridEmulator.start({
    // Delays of a release and waits for an empty queue are ten seconds at least.
    clock: startAcceleratedClock(10),
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Data Sender' }, { role: 'EventGrid Data Receiver' }] }],
  })
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const { authorityHost, resourceManager } = endpoints
  const { namespaceEndpoint, name, key } = emulator.namespaceTopic('orders')
  return await goSteps(folder, emulator, {
    ...{ tenantId, clientId, clientSecret, authorityHost, resourceManager },
    namespace: { endpoint: namespaceEndpoint, topic: name, queue: 'app', key },
  })
}
