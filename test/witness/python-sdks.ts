import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { EventGridEmulator } from '../../src/emulator/index.ts'
import { cacheOf, caFile, portIngress } from './places.ts'
import { runProgram, startProgram } from './program.ts'
import type { Step, Witness } from './witness.ts'

const sources = join(import.meta.dirname, 'python')
const cache = cacheOf('python')
const python = join(cache, 'bin', 'python')

/** Azure's SDKs for Python, in a virtual environment of their own. */
export const pythonSdks: Witness = { name: "Azure's Python SDKs", prepare, run }

async function prepare(): Promise<{ missing?: string }> {
  const found = await runProgram('python3', ['--version'])
  if (found.code !== 0) return { missing: 'there is no python3' }
  const requirements = join(sources, 'requirements.txt')
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .update(found.stdout)
    .digest('hex')
  const stamp = join(cache, 'requirements.sha256')
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === digest) return {}
  await rm(cache, { recursive: true, force: true })
  await mkdir(cache, { recursive: true })
  const made = await runProgram('python3', ['-m', 'venv', cache])
  if (made.code !== 0) return { missing: `python3 makes no virtual environment (python3-venv): ${lastLine(made)}` }
  const installed = await runProgram(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
  if (installed.code !== 0) return { missing: `pip could not install the SDKs: ${lastLine(installed)}` }
  await writeFile(stamp, digest)
  return {}
}

const unregistered = '55555555-5555-4555-8555-555555555555'
const stranger = { clientId: '66666666-6666-4666-8666-666666666666', clientSecret: 'a-stranger-without-a-role' }

async function run(): Promise<readonly Step[]> {
  const subscriptions = [{ resourceGroups: ['rg'] }, { id: unregistered, registered: false }]
  await using emulator = await EventGridEmulator.start({
    ingress: portIngress,
    subscriptions,
    // Whoever manages topics and registers providers needs more than the binding does.
    clients: [
      { roles: [{ role: 'Contributor' }, { role: 'EventGrid Data Sender' }] },
      { ...stranger, roles: [{ role: 'Reader' }] },
    ],
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
  }
  const program = startProgram(python, [join(sources, 'witness.py')], {
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

function lastLine({ stderr }: { readonly stderr: string }): string {
  return stderr.trim().split('\n').at(-1) ?? ''
}
