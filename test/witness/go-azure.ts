import { EventGridEmulator } from '../../src/emulator/index.ts'
import { goSteps, prepareGo } from './go-program.ts'
import { portIngress } from './places.ts'
import type { Step, Witness } from './witness.ts'

const folder = 'go-azure'

/** Azure's SDKs for Go: armeventgrid manages, azeventgrid publishes, azidentity signs in. */
export const goAzure: Witness = { name: "Azure's Go SDKs", prepare: () => prepareGo(folder), run }

async function run(): Promise<readonly Step[]> {
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
