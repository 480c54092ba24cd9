import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { FastifyHook } from '../../src/index.ts'
import { type Fields, openWorld, type World } from '../support/open-world.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'

const withoutRoles = ({ emulator }: World) => emulator.removeRoles(emulator.clientId)
const unregister = ({ emulator }: World) => emulator.unregisterProvider()
const withoutIngress = ({ emulator }: World) => emulator.setIngress([])
const withoutTopic = ({ emulator }: World) => emulator.removeTopic('orders')
const atStart = (what: string) => `it prints ${what} at its start`
const roles = (role: string) => `roles: [${role}]`
const clients = atStart('its clients with tenant and secret')
const rule = '--ingress https://orders.example.com/=http://127.0.0.1:PORT/'
const wrongKey = { accessKey: 'd3Jvbmc=' }
const entra = { topicAuthentication: 'entra', accessKey: undefined }

const assign = 'az role assignment create'
const soon = { subscriptionTimeout: '20s' }

/** What is wrong is in the fields, or comes about by `prepare`. */
type Prepare = (world: World) => void
type Row = [fault: string, code: string, emulator: string, azure: string, fields: Fields, prepare?: Prepare]

const ofInit: readonly Row[] = [
  ['a wrong secret', 'CREDENTIALS_REJECTED', clients, 'az ad app credential reset', { clientSecret: 'wrong' }],
  ['an unknown client', 'CREDENTIALS_REJECTED', clients, 'check clientId and tenantId', { clientId: 'nobody' }],
  ['a missing role', 'PERMISSION_DENIED', roles('EventGrid EventSubscription Contributor'), assign, {}, withoutRoles],
  ['an unregistered provider', 'PROVIDER_NOT_REGISTERED', 'registered: true', 'az provider register', {}, unregister],
  ['an unknown scope', 'SCOPE_NOT_FOUND', atStart('the scope of each topic'), 'check scope', {}, withoutTopic],
  ['a missing ingress rule', 'HANDSHAKE_FAILED', rule, 'reachable from the internet', soon, withoutIngress],
]

const ownEndpoint = "set topicEndpoint to the topic's own"

const ofCreate: readonly Row[] = [
  ['a wrong key', 'CREDENTIALS_REJECTED', atStart('the keys'), 'az eventgrid topic key list', wrongKey],
  ['an unknown topic', 'PUBLISH_REJECTED', atStart('the endpoint of each topic'), ownEndpoint, {}, withoutTopic],
  ['no role to publish', 'PERMISSION_DENIED', roles('EventGrid Data Sender'), assign, entra, withoutRoles],
]

it.each([
  ...ofInit.map((row) => ({ row, from: (world: World) => world.init(row[4]) })),
  ...ofCreate.map((row) => ({ row, from: (world: World) => world.binding.invoke('create', { order: 1 }) })),
])('an error for $row.0 says what to do on the emulator first, then in Azure', async ({ row, from }) => {
  const [, code, emulator, azure, fields, prepare] = row
  quickenTime()
  const world = await openWorld()
  if (ofCreate.includes(row)) await world.init(fields, { subscription: 'background' })
  prepare?.(world)
  const error = await refusal(from(world))
  expect(error.code).toBe(code)
  const [, afterAdvice] = error.message.split(emulator)
  expect(afterAdvice).toContain(azure)
})

it.each([
  ['no path', (at: URL) => at.origin, '/topics/<topic>/api/events, as it prints at its start'],
  [
    'the path of Azure',
    (at: URL) => `${at.origin}/api/events`,
    '/topics/<topic>/api/events, as it prints at its start',
  ],
])("the emulator's endpoint with %s is told as it should be", async (_name, cut, says) => {
  const world = await openWorld()
  for (const endpoint of [world.emulator.topic('orders').endpoint, world.emulator.topic('orders').httpEndpoint]) {
    const at = new URL(endpoint)
    const publish = async () => {
      await world.init({ topicEndpoint: cut(at) }, { sides: ['output'] })
      await world.binding.invoke('create', { order: 1 })
    }
    const error = await refusal(publish())
    expect(error.message).toContain(`${at.origin}${says}`)
    expect(error.message).not.toContain('az eventgrid')
    if (error.code !== 'METADATA_INVALID') break
  }
})

it.each([401, 302])('a hook of the host that answers %i is named where the handshake fails', async (status) => {
  quickenTime()
  const fastify: FastifyHook = (server) =>
    void server.addHook('onRequest', (_request, reply) => reply.code(status).header('location', '/login').send('no'))
  const world = await openWorld({ binding: { fastify } })
  const { code, message } = await refusal(world.init(soon))
  expect(code).toBe('HANDSHAKE_FAILED')
  expect(message).toContain('a hook of the option fastify may answer so too')
})

it.each([
  // Unread bytes would end the connection by a reset, which has other words.
  ['closes the connection', (socket: Socket) => void socket.once('data', () => socket.end()), /before secure TLS/],
  ['speaks plain http', (socket: Socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), /EPROTO/],
])('a TLS handshake with a server that %s is told of with its reason', async (_name, answer, reason) => {
  const server = createServer((socket) => answer(socket.on('error', () => {})))
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const world = await openWorld()
  const topicEndpoint = `https://127.0.0.1:${port}/api/events`
  await world.init({ topicEndpoint, publishTimeout: '1s' }, { sides: ['output'] })
  const { code, message } = await refusal(world.binding.invoke('create', { order: 1 }))
  expect(code).toBe('PUBLISH_UNAVAILABLE')
  expect(message).toMatch(reason)
})
