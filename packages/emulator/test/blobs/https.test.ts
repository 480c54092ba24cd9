/** Blobs over https, in front of an Azurite that serves https and takes tokens of Entra. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { createCertificateAuthority } from '../../src/server/tls/certificates.ts'
import { startSubscriber } from '../subscriber.ts'
import { azuriteAccount as account, spawnAzurite } from '../support/azurite-process.ts'
import { accountId } from './open-blobs.ts'

const program = fileURLToPath(new URL('../fixtures/blobs-with-entra.ts', import.meta.url))
const runProgram = promisify(execFile)

it('a program that signs in with Entra writes and deletes blobs, and the account raises the events', async () => {
  const authority = createCertificateAuthority()
  const { address, stop } = await spawnAzurite('blob', authority.issue(['127.0.0.1']))
  onTestFinished(stop)
  const subscriber = await startSubscriber()
  const emulator = await startEmulator({
    storage: [{ account, azurite: address }],
    trustedCertificates: [authority.certificate],
    ingress: [{ from: 'https://subscriber.example/', to: `${subscriber.url}/` }],
    eventSubscriptions: [
      {
        ...{ name: 'app', scope: accountId, endpoint: 'https://subscriber.example/' },
        properties: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
      },
    ],
  })
  await emulator.idle()
  emulator.caFile = `${await temporaryFolder()}/ca.pem`
  await writeFile(emulator.caFile, emulator.ca)
  const [{ httpsBlobEndpoint: endpoint = '' } = {}] = emulator.storage()
  const { variables } = emulator.environment().languages.node
  await runProgram(process.execPath, [program, endpoint], { env: { ...process.env, ...variables } })
  await emulator.settled({ timeout: 60_000 })
  const events = subscriber.deliveries().map(({ body }) => JSON.parse(body))
  const shown = events.toSorted((one, other) => (one.data.sequencer < other.data.sequencer ? -1 : 1))
  expect(shown).toMatchObject([
    { type: 'Microsoft.Storage.BlobCreated', data: { api: 'PutBlob', url: `${endpoint}/uploads/b`, contentLength: 5 } },
    {
      type: 'Microsoft.Storage.BlobCreated',
      data: { api: 'CopyBlob', url: `${endpoint}/uploads/copy`, contentLength: 5, contentType: 'text/css' },
    },
    { type: 'Microsoft.Storage.BlobCreated', data: { url: `${endpoint}/uploads/signed`, contentLength: 14 } },
    { type: 'Microsoft.Storage.BlobDeleted', data: { api: 'DeleteBlob', url: `${endpoint}/uploads/b` } },
  ])
})

it('says so where the certificate of Azurite is not trusted', async () => {
  const { address, stop } = await spawnAzurite('blob', createCertificateAuthority().issue(['127.0.0.1']))
  onTestFinished(stop)
  const emulator = await startEmulator({ storage: [{ account, azurite: address }] })
  const answer = await fetch(`${emulator.storage()[0]?.blobEndpoint}/uploads/b`)
  expect([answer.status, await answer.text()]).toEqual([502, expect.stringMatching(/certificate.*trustedCertificates/)])
})

it('ends connections that never begin, or never end their handshake', async () => {
  const emulator = await startEmulator({ storage: [{ account, azurite: 'http://127.0.0.1:1' }] })
  const port = Number(new URL(emulator.storage()[0]?.blobEndpoint ?? '').port)
  const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  for (const socket of sockets) socket.on('error', () => {})
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  sockets[1]?.write(Buffer.from([0x16, 3, 1]))
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
  await emulator.close()
  await closed
})
