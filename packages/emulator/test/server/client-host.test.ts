// Which addresses in answers follow the host and port that the client used, as docs/containers.md says.
import { createConnection, createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { listen } from '../../../../test/support/listen.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import type { EventGridEmulator } from '../../src/index.ts'

/** A port that leads to another one, as that of a container does. */
async function publishPort(port: number): Promise<number> {
  const relay = createServer((client) => {
    const server = createConnection(port, '127.0.0.1')
    client.pipe(server).pipe(client)
    client.on('error', () => server.destroy())
    server.on('error', () => client.destroy())
    onTestFinished(() => void server.destroy())
  })
  return listen(relay)
}

it('Entra, metadata and operations follow the client; the endpoint of a topic and the environment do not', async () => {
  const emulator = await startEmulator({ clients: [{ roles: [{ role: 'Owner' }] }] })
  const { resourceManager } = emulator.endpoints
  const outside = `https://127.0.0.1:${await publishPort(Number(new URL(resourceManager).port))}`
  const endpoints = { ...emulator.endpoints, resourceManager: outside, authorityHost: outside }
  /** The emulator as a client outside of the container has it. */
  const there: EventGridEmulator = Object.create(emulator, { endpoints: { value: endpoints } })
  const topic = `${emulator.topic().id.replace(/orders$/, 'parcels')}?api-version=2025-02-15`
  const made = await sendArm(there, topic, { method: 'PUT', body: JSON.stringify({ location: 'westeurope' }) })
  expect([made.status, String(made.headers['azure-asyncoperation']).startsWith(outside)]).toEqual([201, true])
  const shown = Object((await sendArm(there, topic)).body)
  expect(shown.properties.endpoint).toBe(`${resourceManager}/topics/parcels/api/events`)
  expect(emulator.environment().https).toBe(resourceManager)
})
