/** METADATA_INVALID says by its issues what a program can show field by field: whatever refuses, there is one at least. */
import { expect, it, onTestFinished, vi } from 'vitest'
import { Binding, type Endpoints } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'

const scope = '/subscriptions/7b6b1e6f-0f6f-4a52-9a3d-2f3a0f7f5d11'
const client = { tenantId: 'a.example', clientId: 'b', clientSecret: 'c', subscriptionId: scope.slice(15) }
const push = { ...client, scope, subscriberEndpoint: 'https://orders.example.com', handshakePort: '0' }
const output = { topicEndpoint: 'https://orders.example.com', accessKey: 'k' }
const { topicEndpoint } = output
const entra = { topicEndpoint, topicAuthentication: 'entra', direction: 'output', ...client }
const [arm, authority] = ['endpoints.resourceManager', 'endpoints.authorityHost']

/** Where Azure is said to be, by options or by the environment. */
interface Where {
  readonly endpoints?: Endpoints
  readonly env?: Readonly<Record<string, string>>
}

it.each<[name: string, given: unknown, fields: readonly (string | undefined)[], where?: Where]>([
  ['nothing', undefined, [undefined]],
  ['an empty record', {}, [undefined]],
  ['unknown fields alone', { a: 'b' }, [undefined, '"a"']],
  ['a document of another kind', { kind: 'Subscription' }, ['apiVersion', 'kind']],
  ["Resource Manager's address", push, [arm], { endpoints: { resourceManager: 'http://arm.example' } }],
  ["Entra's address", push, [authority], { endpoints: { authorityHost: 'http://entra.example' } }],
  ["Entra's address, for a topic", entra, [authority], { endpoints: { authorityHost: 'http://entra.example' } }],
  ["Resource Manager's address by the environment", push, [arm], { env: { AZURE_RESOURCE_MANAGER_URL: 'arm' } }],
  ["Entra's address by the environment", push, [authority], { env: { AZURE_AUTHORITY_HOST: 'entra' } }],
  ['a proxy', output, ['HTTPS_PROXY'], { env: { HTTPS_PROXY: 'socks5h://127.0.0.1:1' } }],
  ['a proxy, for Entra', entra, ['HTTPS_PROXY'], { env: { HTTPS_PROXY: '127.0.0.1:1' } }],
])('init has issues for %s', async (_name, given, fields, { endpoints, env = {} } = {}) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  const binding = new Binding(endpoints && { endpoints })
  onTestFinished(() => binding.close())
  const { code, issues, message } = await refusal(binding.init(given))
  expect(code).toBe('METADATA_INVALID')
  expect(issues.map(({ field }) => field).slice(0, fields.length)).toEqual(fields)
  for (const { rule } of issues) expect(message).toContain(rule)
})
