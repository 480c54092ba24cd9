import fc from 'fast-check'
import { expect, it } from 'vitest'
import { credentialOf, send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const words = [
  ...['subscriptions', '33333333-3333-4333-8333-333333333333', 'resourceGroups', 'rg', 'providers', 'topics', 'orders'],
  ...['Microsoft.EventGrid', 'Microsoft.Authorization', 'eventSubscriptions', 'shop', 'getFullUrl', 'locations'],
  ...['operationsStatus', 'roleAssignments', 'register', '..', '%2F', '%00', '__proto__', 'constructor', ''],
]
const names = [
  ...[
    'properties',
    'destination',
    'endpointType',
    'endpointUrl',
    'filter',
    'advancedFilters',
    'operatorType',
    'values',
  ],
  ...['labels', '__proto__'],
]
const leaf = fc.oneof(
  fc.constantFrom(null, true, -1, 1e308, 'WebHook', 'StringIn', 'https://x.example', ''),
  fc.string(),
)
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 6 },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 5 }),
  ),
}))

const request = fc.record({
  path: fc
    .array(fc.constantFrom(...words), { minLength: 1, maxLength: 14 })
    .map((segments) => `/${segments.join('/')}`),
  method: fc.constantFrom('GET', 'PUT', 'PATCH', 'POST', 'DELETE', 'HEAD', 'OPTIONS'),
  version: fc.constantFrom('?api-version=2022-06-15', '?api-version=2021-04-01', '?api-version=%00', '?', ''),
  body: fc.oneof(
    json.map((value) => JSON.stringify({ properties: value })),
    fc.string(),
  ),
})

it('answers anything at ARM in Azure’s form, and never with a 5xx', async () => {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
  // A destination that takes shape by chance must lead nowhere.
  emulator.setIngress(() => 'http://127.0.0.1:1/')
  const { token } = await credentialOf(emulator).getToken('https://management.azure.com/.default')
  await fc.assert(
    fc.asyncProperty(request, async ({ path, method, version, body }) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const sent = method === 'GET' || method === 'HEAD' ? {} : { body }
      const answer = await send(emulator, path + version, { method, headers, ...sent })
      expect(answer.status).toBeLessThan(500)
      if (answer.status < 400 || method === 'HEAD') return
      expect(answer.body).toMatchObject({
        error: { code: expect.stringMatching(/^\w+$/), message: expect.any(String) },
      })
      expect(JSON.stringify(answer.body)).not.toMatch(/\.[jt]s:\d+/)
    }),
    { numRuns: 500 },
  )
  expect(Object.prototype).not.toHaveProperty('destination')
})

it('answers anything at Entra’s token endpoint in Entra’s form', async () => {
  const emulator = await startEmulator()
  const field = fc.constantFrom('grant_type', 'client_id', 'client_secret', 'scope', '__proto__')
  const value = fc.oneof(
    fc.constantFrom('client_credentials', emulator.clientId, 'https://management.azure.com/.default'),
    fc.string(),
  )
  const form = fc.array(fc.tuple(field, value)).map((fields) => new URLSearchParams(fields).toString())
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(form, fc.string()),
      fc.constantFrom(emulator.tenantId, 'nobody', '%20', '..'),
      async (body, tenant) => {
        const { status, body: answer } = await send(emulator, `/${tenant}/oauth2/v2.0/token`, { method: 'POST', body })
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
        expect(answer).toMatchObject({
          error: expect.any(String),
          error_description: expect.stringMatching(/^AADSTS\d+: /),
        })
      },
    ),
    { numRuns: 150 },
  )
})
