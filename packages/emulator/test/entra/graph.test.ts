import { expect, it } from 'vitest'
import { credentialOf, send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'

const clients = [
  {},
  { clientId: '99999999-9999-4999-8999-999999999999', objectId: 'aaaaaaaa-0000-4000-8000-00000000000a' },
]
const byName = (name: string) =>
  `/v1.0/servicePrincipals?$filter=${encodeURIComponent(`servicePrincipalNames/any(c:c eq '${name}')`)}`
const byIds = '/v1.0/directoryObjects/getByIds'

it.each([
  { what: 'an application id', path: byName('99999999-9999-4999-8999-999999999999'), found: 1 },
  {
    what: 'an object id',
    path: byIds,
    body: { ids: ['AAAAAAAA-0000-4000-8000-00000000000a', 'x'], types: [] },
    found: 1,
  },
  { what: 'an unknown application id', path: byName('none'), found: 0 },
  { what: 'an unknown object id', path: byIds, body: { ids: ['none'] }, found: 0 },
  { what: 'another filter', path: '/v1.0/servicePrincipals?$filter=x', status: 400 },
  { what: 'no list of ids', path: byIds, body: {}, status: 400 },
  { what: 'a body that is no JSON', path: byIds, body: '{', status: 400 },
  { what: 'users', path: '/v1.0/users', status: 404 },
])('Microsoft Graph is asked for a service principal by $what', async ({ path, body, found, status = 200 }) => {
  const emulator = await startEmulator({ clients })
  const { token } = await credentialOf(emulator).getToken(`${emulator.endpoints.resourceManager}//.default`)
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const asked = { method: text === undefined ? 'GET' : 'POST', ...(text !== undefined && { body: text }) }
  const answer = await send(emulator, path, { ...asked, headers: { authorization: `Bearer ${token}` } })
  const principal = { id: 'aaaaaaaa-0000-4000-8000-00000000000a', appId: '99999999-9999-4999-8999-999999999999' }
  expect(answer).toMatchObject({
    status,
    body: found === undefined ? { error: { code: expect.any(String) } } : { value: Array(found).fill(principal) },
  })
  expect(await send(emulator, path, asked)).toMatchObject({ status: 401 })
})
