import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { azuriteAccount, azuriteKey, spawnAzurite } from '../../packages/emulator/test/support/azurite-process.ts'
import { caFile, portIngress } from './places.ts'
import { startProgram } from './program.ts'
import { lastLine, preparePython, pythonOf, pythonSources } from './python-environment.ts'
import type { Step, Witness } from './witness.ts'

/** Azure's SDKs for Python, in a virtual environment of their own. */
export const pythonSdks: Witness = {
  name: "Azure's Python SDKs",
  prepare: () => preparePython('python', 'requirements.txt'),
  run,
}

const unregistered = '55555555-5555-4555-8555-555555555555'
const stranger = { clientId: '66666666-6666-4666-8666-666666666666', clientSecret: 'a-stranger-without-a-role' }

async function run(): Promise<readonly Step[]> {
  const azurite = await spawnAzurite()
  try {
    return await runBeside(azurite.address)
  } finally {
    await azurite.stop()
  }
}

async function runBeside(azurite: string): Promise<readonly Step[]> {
  const subscriptions = [{ resourceGroups: ['rg'] }, { id: unregistered, registered: false }]
  await using emulator = await EventGridEmulator.start({
    ingress: portIngress,
    subscriptions,
    // Whoever manages topics and registers providers needs more than the binding does.
    clients: [
      {
        roles: [{ role: 'Contributor' }, { role: 'EventGrid Data Sender' }, { role: 'EventGrid Data Receiver' }],
      },
      { ...stranger, roles: [{ role: 'Reader' }] },
    ],
    storage: [{ account: azuriteAccount, azurite }],
    topics: [
      { name: 'cloud' },
      { name: 'grid', inputSchema: 'EventGridSchema' },
      {
        name: 'custom',
        inputSchema: 'CustomEventSchema',
        inputSchemaMapping: {
          inputSchemaMappingType: 'Json',
          properties: {
            id: { sourceField: 'number' },
            eventType: { sourceField: 'kind' },
            subject: { defaultValue: 'orders' },
            dataVersion: { defaultValue: '1.0' },
          },
        },
      },
    ],
  })
  const { tenantId, clientId, clientSecret, subscriptionId, endpoints } = emulator
  const { authorityHost, resourceManager } = endpoints
  const topics = Object.fromEntries(['cloud', 'grid', 'custom'].map((name) => [name, emulator.topic(name)]))
  const contributor = { clientId, clientSecret }
  const world = {
    tenantId,
    subscriptionId,
    authorityHost,
    resourceManager,
    topics,
    contributor,
    stranger,
    unregistered,
    proxy: emulator.proxy,
    storage: { ...emulator.storage()[0], key: azuriteKey },
  }
  const program = startProgram(pythonOf('python'), [join(pythonSources, 'witness.py')], {
    timeoutMs: 300_000,
    env: {
      EMULATOR: JSON.stringify(world),
      REQUESTS_CA_BUNDLE: await caFile('python', emulator.ca),
      PYTHONDONTWRITEBYTECODE: '1',
      NO_PROXY: '*',
    },
  })
  program.end()
  const steps: Step[] = []
  // Only witness.py writes these lines, and each has this shape.
  for await (const line of program.lines) steps.push(JSON.parse(line) as Step)
  const { code, stderr } = await program.ended
  if (code === 0 && steps.every(({ error }) => error === undefined)) return steps
  process.stderr.write(stderr)
  return code === 0 ? steps : [...steps, { step: 'witness.py runs to its end', error: lastLine({ stderr }) }]
}
