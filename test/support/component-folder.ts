import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A folder of component files, as daprd's `--resources-path` and our `run --components` take it. */
export interface ComponentFolder {
  readonly path: string
  write(name: string, text: string): void
  remove(name: string): void
}

/** Makes an empty one in the system's temporary folder; the test's end removes it. */
export function makeComponentFolder(): ComponentFolder {
  const path = temporaryFolder()
  return {
    path,
    write: (name, text) => writeFileSync(join(path, name), text),
    remove: (name) => rmSync(join(path, name)),
  }
}

/** What a component of {@link componentYaml} says. */
export interface ComponentParts {
  /** @default 'orders' */
  readonly name?: string
  /** @default 'bindings.azure.eventgrid' */
  readonly type?: string
  /** The topic of the emulator's that it publishes to and hears from. @default the component's name */
  readonly topic?: string
  readonly handshakePort: string
  /** Metadata fields over those of both sides; `undefined` leaves one out. */
  readonly fields?: Readonly<Record<string, string | undefined>>
  /** @default none */
  readonly scopes?: readonly string[]
}

/**
 * A component of both sides for the emulator, which any host of Dapr components can load: its secrets are in a local secret store, whose
 * component and file come with {@link writeSecretStore}. Deliveries come to `https://{name}.example.com/api/events`.
 */
export function componentYaml(emulator: EventGridEmulator, parts: ComponentParts): string {
  const { name = 'orders', type = 'bindings.azure.eventgrid', handshakePort, fields = {}, scopes = [] } = parts
  const topic = emulator.topic(parts.topic ?? name)
  const plain: Readonly<Record<string, string | undefined>> = {
    tenantId: emulator.tenantId,
    subscriptionId: emulator.subscriptionId,
    clientId: emulator.clientId,
    subscriberEndpoint: `https://${name}.example.com/api/events`,
    handshakePort,
    scope: topic.id,
    topicEndpoint: topic.endpoint,
    ...fields,
  }
  const values = Object.entries(plain).flatMap(([key, value]) =>
    value === undefined ? [] : [`    - { name: ${key}, value: ${JSON.stringify(value)} }`],
  )
  const secrets = ['clientSecret', 'accessKey']
    .filter((key) => !Object.hasOwn(fields, key))
    .map((key) => `    - { name: ${key}, secretKeyRef: { name: ${name}-${key}, key: ${name}-${key} } }`)
  return [
    'apiVersion: dapr.io/v1alpha1',
    'kind: Component',
    `metadata: { name: ${name} }`,
    'spec:',
    `  type: ${type}`,
    '  version: v1',
    '  metadata:',
    ...values,
    ...secrets,
    'auth: { secretStore: local-secrets }',
    ...(scopes.length > 0 ? [`scopes: ${JSON.stringify(scopes)}`] : []),
    '',
  ].join('\n')
}

/** A component of these fields alone, its secrets among them. */
export const componentFile = (name: string, fields: Readonly<Record<string, string>>) => `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
${Object.entries(fields)
  .map(([field, value]) => `    - { name: ${field}, value: ${JSON.stringify(value)} }`)
  .join('\n')}`

/** The variables that lead a command to the emulator, whose certificate authority is written into a folder. */
export function emulatorVariables({ endpoints, ca }: EventGridEmulator, folder: string): Record<string, string> {
  const file = join(folder, 'ca.pem')
  writeFileSync(file, ca)
  return {
    AZURE_RESOURCE_MANAGER_URL: endpoints.resourceManager,
    AZURE_AUTHORITY_HOST: endpoints.authorityHost,
    NODE_EXTRA_CA_CERTS: file,
  }
}

/** Writes the local secret store that components of these names refer to: a component, and its file, which is no YAML. */
export function writeSecretStore(folder: ComponentFolder, emulator: EventGridEmulator, names: readonly string[]): void {
  const secrets = names.flatMap((name) => [
    [`${name}-clientSecret`, emulator.clientSecret],
    [`${name}-accessKey`, emulator.topic(name).key],
  ])
  folder.write('secrets.json', JSON.stringify(Object.fromEntries(secrets)))
  folder.write(
    'local-secrets.yaml',
    `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: local-secrets }
spec:
  type: secretstores.local.file
  version: v1
  metadata:
    - { name: secretsFile, value: ${JSON.stringify(join(folder.path, 'secrets.json'))} }
`,
  )
}
