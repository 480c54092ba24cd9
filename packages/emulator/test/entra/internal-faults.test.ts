import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { credentialOf, send } from '../../../../test/support/azure-clients.ts'
import { quickenTime } from '../../../../test/support/quick-time.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { EventGridEmulator } from '../../src/index.ts'

const scope = 'https://management.azure.com/.default'

/** An emulator whose state file takes no signing key. @param change of the file, before it starts again */
async function openWithoutKeys(change = '') {
  const state = join(temporaryFolder(), 'state.db')
  const first = await EventGridEmulator.start({ state })
  await credentialOf(first).getToken(scope)
  await first.close()
  const database = new DatabaseSync(state)
  database.exec(
    `${change} CREATE TRIGGER full BEFORE INSERT ON kept WHEN NEW.id = 'signing keys' BEGIN SELECT RAISE(FAIL, 'full'); END`,
  )
  database.close()
  return startEmulator({ state })
}

function askToken(emulator: EventGridEmulator) {
  const { tenantId, clientId, clientSecret } = emulator
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope }
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const body = String(new URLSearchParams(form))
  return send(emulator, `/${tenantId}/oauth2/v2.0/token`, { method: 'POST', headers, body })
}

it('a fault inside Entra and Graph is answered 500, as theirs and not as the client’s', async () => {
  const emulator = await openWithoutKeys("DELETE FROM kept WHERE id = 'signing keys';")
  const { status, body } = await askToken(emulator)
  expect(status).toBe(500)
  expect(body).toMatchObject({ error: 'server_error' })
  const headers = { authorization: 'Bearer x' }
  expect((await send(emulator, '/v1.0/servicePrincipals', { headers })).status).toBe(500)
  // The client's own faults stay its own.
  const long = { method: 'POST', body: 'x'.repeat(70_000) }
  expect((await send(emulator, `/${emulator.tenantId}/oauth2/v2.0/token`, long)).status).toBe(400)
})

it('a rotation that fails tells so, and the keys before it go on signing', async () => {
  quickenTime()
  const emulator = await openWithoutKeys()
  const keys = async () => Object((await send(emulator, '/common/discovery/keys')).body).keys.map(Object)
  const before = await keys()
  await expect(emulator.rotateKeys()).rejects.toThrow(/full/)
  await expect(emulator.rotateKeys({ forget: true })).rejects.toThrow(/full/)
  expect(await keys()).toEqual(before)
  expect((await askToken(emulator)).status).toBe(200)
})
