/** The identity of a virtual machine: IMDS in place of App Service's endpoint. MSAL keeps the first one, so a process of its own. */
import { createServer } from 'node:http'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { byIdentity, type IdentityAnswer, managed, stumbles, stumbling } from '../support/identity-endpoint.ts'
import { openWorld } from '../support/open-world.ts'
import { quickenTime } from '../support/quick-time.ts'
import { refusal } from '../support/refusal.ts'

const port = await freePort()

beforeEach(quickenTime)

/** Leads the process to an IMDS of the test's own, which listens when told to. */
function prepareMachine(answer: IdentityAnswer) {
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', `http://127.0.0.1:${port}`)
  const server = createServer((request, response) => void answer(request, response))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })
  return { listen: () => new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening)) }
}

it.each(stumbles)('IMDS that $name twice costs nothing', async ({ stumble }) => {
  const world = await openWorld()
  const { answer, asked } = stumbling(world.emulator, stumble, 2)
  await prepareMachine(answer).listen()
  await world.init(byIdentity())
  await world.binding.invoke('create', { order: 1 })
  expect(asked()).toBeGreaterThanOrEqual(4)
})

it('IMDS that refuses connections is asked again, and serves when it is up', async () => {
  const world = await openWorld()
  const { answer } = stumbling(world.emulator, () => {}, 0)
  const { listen } = prepareMachine(answer)
  const init = world.init(byIdentity())
  await expect.poll(() => world.log.text()).toContain('ECONNREFUSED')
  await listen()
  await init
  await world.binding.invoke('create', { order: 1 })
})

it('IMDS that hangs is named, and no other host', async () => {
  const world = await openWorld()
  await prepareMachine(() => {}).listen()
  const { code, message } = await refusal(world.init({ ...managed(), subscriptionTimeout: '5s' }))
  expect(code).toBe('TIMEOUT')
  expect(message).toContain(`127.0.0.1:${port}`)
  expect(message).not.toContain(new URL(world.emulator.endpoints.authorityHost).host)
})

it('IMDS that hangs once is asked again after ten seconds', async () => {
  const world = await openWorld()
  const { answer, asked } = stumbling(world.emulator, () => {}, 1)
  await prepareMachine(answer).listen()
  await world.init(byIdentity())
  await world.binding.invoke('create', { order: 1 })
  expect(asked()).toBe(3)
})

it('asks IMDS for a new token where the topic refuses the one that it gave', async () => {
  const world = await openWorld()
  const { answer, asked } = stumbling(world.emulator, () => {}, 0)
  await prepareMachine(answer).listen()
  await world.init({ ...byIdentity(), provisioning: 'none' })
  await world.binding.invoke('create', { order: 1 })
  world.emulator.failNext({ route: 'topic', status: 401, code: 'Unauthorized', message: 'The token has expired.' })
  await world.binding.invoke('create', { order: 2 })
  expect(asked()).toBe(2)
})
