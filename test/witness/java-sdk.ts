// Azure's SDK for Java, from Maven Central: azure-identity and azure-messaging-eventgrid. That of Resource Manager is not in the registry.
import assert from 'node:assert/strict'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { openConsentingWebhook } from './consenting-webhook.ts'
import { cacheOf, caFile } from './places.ts'
import { runProgram, startProgram } from './program.ts'
import { lastLine } from './python-environment.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

const built = cacheOf('java')
const pom = join(import.meta.dirname, 'java', 'pom.xml')
const copyDependencies = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

export const javaSdk: Witness = { name: "Azure's Java SDK", prepare: prepareJava, run }

/** Where {@link prepareJava} puts the packages, as a class path. */
export const libraries = join(built, 'libraries', '*')

/** Builds the program with its packages. Resolves with the reason if that is not possible. */
export async function prepareJava(): Promise<{ missing?: string }> {
  for (const command of ['java', 'keytool', 'mvn']) {
    const { code } = await runProgram(command, [command === 'keytool' ? '-help' : '-version'])
    if (code !== 0) return { missing: `there is no ${command}` }
  }
  await mkdir(built, { recursive: true })
  const goals = ['compile', copyDependencies, `-DoutputDirectory=${join(built, 'libraries')}`]
  const { code, stdout } = await runProgram('mvn', ['-q', '-B', '-f', pom, `-DbuildDirectory=${built}`, ...goals])
  const [why = 'Maven says nothing'] = stdout.split('\n').filter((line) => line.includes('ERROR'))
  return code === 0 ? {} : { missing: `it can't be built: ${why}` }
}

async function run(): Promise<readonly Step[]> {
  await using webhook = await openConsentingWebhook()
  const endpoint = 'https://java.example.com/events'
  await using emulator = await EventGridEmulator.start({
    ingress: [{ from: 'https://java.example.com/', to: webhook.to }],
    topics: [{ name: 'cloud' }, { name: 'grid', inputSchema: 'EventGridSchema' }],
    eventSubscriptions: ['cloud', 'grid'].map((topic) => ({
      name: `java-${topic}`,
      topic,
      endpoint,
      properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
    })),
  })
  await emulator.idle()
  const [cloud, grid] = [emulator.topic('cloud'), emulator.topic('grid')]
  const program = startProgram('java', [...(await trusting(emulator.ca)), '-cp', classPath(), 'Witness'], {
    timeoutMs: 120_000,
    env: {
      AUTHORITY_HOST: emulator.endpoints.authorityHost,
      ...{ TENANT_ID: emulator.tenantId, CLIENT_ID: emulator.clientId, CLIENT_SECRET: emulator.clientSecret },
      ...{ CLOUD_ENDPOINT: cloud.endpoint, CLOUD_KEY: cloud.key, GRID_ENDPOINT: grid.endpoint, GRID_KEY: grid.key },
    },
  })
  program.end()
  const steps: Step[] = []
  // Only Witness.java writes these lines, and each has this shape.
  for await (const line of program.lines) steps.push(JSON.parse(line) as Step)
  const { code, stderr } = await program.ended
  if (code !== 0) steps.push({ step: 'the program runs to its end', error: lastLine({ stderr }) })
  steps.push(
    await takeStep('what it published is delivered', async () => {
      await emulator.settled({ timeout: 30_000 })
      const delivered = emulator.records.deliveries.all().flatMap(({ eventIds }) => eventIds)
      assert.deepEqual(delivered.toSorted(), ['java-grid', 'java-key', 'java-sas', 'java-token'])
    }),
  )
  return steps
}

const classPath = () => [join(built, 'classes'), libraries].join(':')

/** Java takes authorities from a store of its own only. */
async function trusting(ca: string): Promise<readonly string[]> {
  const store = join(built, 'authorities.p12')
  await rm(store, { force: true })
  const secret = ['-storepass', 'changeit']
  const file = await caFile('java', ca)
  const { code, stdout } = await runProgram('keytool', [
    ...['-importcert', '-noprompt', '-alias', 'emulator', '-file', file, '-keystore', store, ...secret],
  ])
  assert.equal(code, 0, stdout)
  return [`-Djavax.net.ssl.trustStore=${store}`, '-Djavax.net.ssl.trustStorePassword=changeit']
}
