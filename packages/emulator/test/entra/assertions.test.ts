import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { WorkloadIdentityCredential } from '@azure/identity'
import { decodeJwt, generateKeyPair, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { send } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { type EventGridEmulator, ManualClock } from '../../src/index.ts'

const scope = 'https://management.azure.com/.default'
const jwtBearer = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

async function ask(emulator: EventGridEmulator, fields: Readonly<Record<string, string>>) {
  const form = { grant_type: 'client_credentials', client_id: emulator.clientId, scope, ...fields }
  return send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
}

it('gives the real WorkloadIdentityCredential a token for the assertion in its file', async () => {
  const emulator = await startEmulator()
  const tokenFilePath = join(temporaryFolder(), 'token')
  writeFileSync(tokenFilePath, await emulator.assertion())
  const { tenantId, clientId, endpoints } = emulator
  const credential = new WorkloadIdentityCredential({
    ...{ tenantId, clientId, tokenFilePath, authorityHost: endpoints.authorityHost, disableInstanceDiscovery: true },
    tlsOptions: { ca: emulator.ca },
  })
  const { token } = await credential.getToken(scope)
  expect(decodeJwt(token)).toMatchObject({ appid: clientId, tid: tenantId, appidacr: '2' })
})

it.each([
  { name: 'without its type', fields: async (own: string) => ({ client_assertion: own }), code: 900144 },
  {
    name: 'of another type',
    fields: async (own: string) => ({ client_assertion: own, client_assertion_type: 'saml' }),
    code: 50027,
  },
  {
    name: 'that is no token',
    fields: async () => ({ client_assertion: 'x', client_assertion_type: jwtBearer }),
    code: 700027,
  },
  {
    name: 'that somebody else signed',
    async fields(own: string) {
      const { privateKey } = await generateKeyPair('RS256')
      const claims = new SignJWT(decodeJwt(own)).setProtectedHeader({ alg: 'RS256', kid: 'x' })
      return { client_assertion: await claims.sign(privateKey), client_assertion_type: jwtBearer }
    },
    code: 700027,
  },
])('refuses an assertion $name', async ({ fields, code }) => {
  const emulator = await startEmulator()
  const answer = await ask(emulator, await fields(await emulator.assertion()))
  expect(answer.body).toMatchObject({ error_codes: [code] })
})

it('refuses an assertion of another client, one that has expired, and an access token in its place', async () => {
  const clock = new ManualClock()
  const other = { tenantId: '7e57ed00-0000-4000-8000-000000000001', clientId: 'c11e0700-0000-4000-8000-00000000000b' }
  const clients = [
    { ...other, clientId: 'c11e0700-0000-4000-8000-00000000000a', clientSecret: 'a' },
    { ...other, clientSecret: 'b' },
  ]
  const emulator = await startEmulator({ clock, clients })
  const asked = async (client_assertion: string) =>
    (await ask(emulator, { client_assertion, client_assertion_type: jwtBearer })).body
  expect(await asked(await emulator.assertion(other.clientId))).toMatchObject({ error_codes: [700213] })
  const own = await emulator.assertion()
  const { access_token: token } = z.object({ access_token: z.string() }).parse(await asked(own))
  expect(await asked(token)).toMatchObject({ error_codes: [700027] })
  await clock.advance(3_601_000)
  expect(await asked(own)).toMatchObject({ error_codes: [700024] })
  await expect(emulator.assertion('nobody')).rejects.toThrow(RangeError)
})

it('gives an assertion over HTTP, and records none', async () => {
  const emulator = await startEmulator()
  const made = await fetch(`${emulator.proxy}/emulator/assertions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ clientId: emulator.clientId }),
  })
  const { assertion } = z.object({ assertion: z.string() }).parse(await made.json())
  const answer = await ask(emulator, { client_assertion: assertion, client_assertion_type: jwtBearer })
  expect(answer.status).toBe(200)
  expect(JSON.stringify(emulator.records.requests.all())).not.toContain(assertion)
})
