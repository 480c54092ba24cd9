/** Whatever a host hands in, and whatever Azure answers, may fail: no failure ends the process, and each is told. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer, request } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import type { BindingOptions, Logger } from '../../src/index.ts'
import { listen } from '../support/listen.ts'
import { openPull, order } from '../support/open-pull.ts'
import { openWorld } from '../support/open-world.ts'
import { refusal } from '../support/refusal.ts'

/** What would have ended the process. */
let fatal: unknown[] = []

beforeEach(() => {
  fatal = []
  const note = (error: unknown) => void fatal.push(error)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  onTestFinished(async () => {
    await turns()
    process.off('unhandledRejection', note).off('uncaughtException', note)
    expect(fatal).toEqual([])
  })
})

const turns = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function raise(): never {
  throw new Error('broken')
}

const eachLevel = (write: () => void): Logger => ({ debug: write, info: write, warn: write, error: write })

const options: { name: string; binding: BindingOptions }[] = [
  { name: 'a logger that throws', binding: { logger: eachLevel(raise) } },
  { name: 'a logger that rejects', binding: { logger: eachLevel(async () => raise()) } },
  { name: 'a credential that throws', binding: { credential: { getToken: raise } } },
  { name: 'a credential that rejects', binding: { credential: { getToken: () => Promise.reject(undefined) } } },
  { name: 'a credential that gives nothing', binding: { credential: { getToken: async () => null } } },
  { name: 'a handler that throws', binding: { onEvent: raise } },
  { name: 'a handler that rejects', binding: { onEvent: () => Promise.reject(undefined) } },
]

it.each(options)('by push, in the background, with $name', async ({ binding: given }) => {
  const { binding, emulator, fields } = await openWorld({ binding: given })
  const { tenantId: _tenant, clientId: _client, ...rest } = fields
  await binding.init(given.credential ? rest : fields, { subscription: 'background' })
  if (given.credential) await expect.poll(() => binding.health().input?.reasons.join()).toContain('could not be prov')
  else {
    await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
    await emulator.idle()
    await binding.invoke('create', { order: 1 })
    await emulator.records.deliveries.waitFor(({ status }) => status === (given.onEvent ? 500 : 200))
  }
  await binding.close()
})

it.each(options)('by pull, in the background, with $name', async ({ binding: given }) => {
  const { binding, publish, byCredential } = await openPull({ binding: given })
  const { tenantId: _tenant, clientId: _client, clientSecret: _secret, ...rest } = byCredential
  const properties = { ...(given.credential ? rest : byCredential), eventSubscriptionName: 'app' }
  await binding.init(properties, { subscription: 'background' })
  if (given.credential) await expect.poll(() => binding.health().input?.reasons.join()).toContain('could not be prov')
  else {
    await publish(order('one'))
    const settled = given.onEvent ? 'release' : 'acknowledge'
    await expect.poll(() => binding.health().input?.pull?.settled[settled], { timeout: 20_000 }).toBeGreaterThan(0)
  }
  await binding.close()
})

it.each([
  { name: 'throws', fastify: raise },
  { name: 'rejects with nothing', fastify: () => Promise.reject(undefined) },
])('ends init where the option fastify $name', async ({ fastify }) => {
  const { init } = await openWorld({ binding: { fastify } })
  expect((await refusal(init())).code).toBe('PLUGIN_FAILED')
})

/** Resource Manager, but for the host name that it has for the namespace. */
async function openRenamed(hostname: unknown) {
  const { emulator, binding: other, ...world } = await openPull()
  const authority = createCertificateAuthority()
  const { certificate: cert, key } = authority.issue(['127.0.0.1'])
  const server = createServer({ key, cert }, async (incoming, outgoing) => {
    const { headers, url = '' } = incoming
    const { resourceManager: address, ca } = emulator.endpoints
    const asked = request(new URL(url, address), { headers: { authorization: headers.authorization }, ca }).end()
    // The emulator may be closed first.
    const [answer]: IncomingMessage[] = await once(asked, 'response').catch(() => [])
    if (!answer) return void outgoing.destroy()
    const text = await readText(answer)
    const renamed = text.replace(/"hostname": ?"[^"]*"/, `"hostname":${JSON.stringify(hostname)}`)
    outgoing.writeHead(answer.statusCode ?? 0, { 'content-type': 'application/json' }).end(renamed)
  })
  const resourceManager = `https://127.0.0.1:${await listen(server)}`
  const endpoints = { ...emulator.endpoints, resourceManager, ca: `${emulator.ca}\n${authority.certificate}` }
  return { ...world, endpoints }
}

it.each(['host:x', 'host:99999', 'host:80:80', '[', '', 'a b', 7, null])(
  'goes on where Resource Manager names the host %j for a namespace, and says so',
  async (hostname) => {
    const { byCredential, endpoints } = await openRenamed(hostname)
    const { binding } = await openPull({ binding: { endpoints } })
    const properties = { ...byCredential, eventSubscriptionName: 'app', provisioning: 'check' }
    await binding.init(properties, { subscription: 'background' })
    await expect.poll(() => binding.health()).toMatchObject({ input: { status: 'degraded' } })
    await expect.poll(() => binding.health().input?.reasons.join()).toContain('names no host for')
    await binding.close()
  },
)
