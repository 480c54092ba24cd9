/** METADATA_INVALID says by its issues what a program can show field by field: whatever refuses, there is one at least. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding, type BindingOptions, parseComponents } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { thrownBy } from '../support/thrown.ts'

const scope = '/subscriptions/7b6b1e6f-0f6f-4a52-9a3d-2f3a0f7f5d11'
const client = { tenantId: 'a.example', clientId: 'b', clientSecret: 'c', subscriptionId: scope.slice(15) }
const push = { ...client, scope, subscriberEndpoint: 'https://orders.example.com', handshakePort: '0' }
const output = { topicEndpoint: 'https://orders.example.com', accessKey: 'k' }
const entra = {
  topicEndpoint: 'https://orders.example.com',
  topicAuthentication: 'entra',
  direction: 'output',
  ...client,
}

interface Row {
  readonly name: string
  readonly given: unknown
  readonly options?: BindingOptions
  readonly env?: Readonly<Record<string, string>>
  readonly fields: readonly (string | undefined)[]
}

const rows: readonly Row[] = [
  { name: 'nothing', given: undefined, fields: [undefined] },
  { name: 'an empty record', given: {}, fields: [undefined] },
  { name: 'unknown fields alone', given: { a: 'b' }, fields: [undefined, '"a"'] },
  { name: 'a document of another kind', given: { kind: 'Subscription' }, fields: ['apiVersion', 'kind'] },
  { name: 'a component of Container Apps', given: { componentType: 'x' }, fields: ['componentType'] },
  { name: 'properties of no form', given: { properties: 5 }, fields: ['properties'] },
  {
    name: 'too many fields',
    given: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, 'x'])),
    fields: [undefined],
  },
  {
    name: "Resource Manager's address",
    given: push,
    options: { endpoints: { resourceManager: 'http://arm.example' } },
    fields: ['endpoints.resourceManager'],
  },
  {
    name: "Entra's address",
    given: push,
    options: { endpoints: { authorityHost: 'http://entra.example' } },
    fields: ['endpoints.authorityHost'],
  },
  {
    name: "Entra's address, for a topic",
    given: entra,
    options: { endpoints: { authorityHost: 'http://entra.example' } },
    fields: ['endpoints.authorityHost'],
  },
  {
    name: "Resource Manager's address by the environment",
    given: push,
    env: { AZURE_RESOURCE_MANAGER_URL: 'arm' },
    fields: ['endpoints.resourceManager'],
  },
  {
    name: "Entra's address by the environment",
    given: push,
    env: { AZURE_AUTHORITY_HOST: 'entra' },
    fields: ['endpoints.authorityHost'],
  },
  { name: 'a proxy', given: output, env: { HTTPS_PROXY: 'socks5h://127.0.0.1:1' }, fields: ['HTTPS_PROXY'] },
  { name: 'a proxy, for Entra', given: entra, env: { HTTPS_PROXY: '127.0.0.1:1' }, fields: ['HTTPS_PROXY'] },
]

it.each(rows)('init has issues for $name', async ({ given, options = {}, env = {}, fields }) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const binding = new Binding(options)
  onTestFinished(() => binding.close())
  const { code, issues, message } = await refusal(binding.init(given))
  expect(code).toBe('METADATA_INVALID')
  expect(issues.map(({ field }) => field).slice(0, fields.length)).toEqual(fields)
  for (const { rule } of issues.slice(0, 50)) expect(message).toContain(rule)
})

it.each([
  ['text that is no YAML', 'a: ['],
  [
    'a component without a name',
    'apiVersion: dapr.io/v1alpha1\nkind: Component\nspec: { type: bindings.azure.eventgrid }',
  ],
  ['a scalar', '5'],
  ['an alias bomb', 'a: &a [x]\nb: *a'],
])('parseComponents has issues for %s', (_name, text) => {
  const { code, issues } = thrownBy(() => parseComponents(text))
  expect(code).toBe('METADATA_INVALID')
  expect(issues.length).toBeGreaterThan(0)
})
