import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { send } from '../../../../test/support/azure-clients.ts'
import { listen } from '../../../../test/support/listen.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { openWebhook } from '../../../../test/support/webhook.ts'

const host = 'webhook.example.com'

it('answers for the public names of its ingress, with path, query, headers and body', async () => {
  const emulator = await startEmulator()
  const webhook = await openWebhook(emulator, () => ({ status: 202, headers: { 'x-own': 'yes' }, body: 'taken' }))
  const headers = { host, 'content-type': 'text/plain' }
  const answer = await send(emulator, '/api/events?code=1', { method: 'POST', headers, body: 'hello' })
  expect(answer).toMatchObject({ status: 202, body: 'taken', headers: { 'x-own': 'yes' } })
  expect(webhook.calls).toMatchObject([{ method: 'POST', url: '/api/events?code=1', body: 'hello', headers: { host } }])
})

it('leaves its own names and ports, and those of Azure, to itself, whatever the ingress takes', async () => {
  const emulator = await startEmulator()
  const webhook = await openWebhook(emulator)
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:1${pathname}`)
  const { port } = new URL(emulator.endpoints.resourceManager)
  for (const own of [`127.0.0.1:${port}`, `host.docker.internal:${port}`, 'localhost', 'management.azure.com']) {
    const answer = await send(emulator, '/subscriptions', { headers: { host: own } })
    expect(answer, own).toMatchObject({ body: { error: { code: 'MissingApiVersionParameter' } } })
  }
  expect(webhook.calls).toEqual([])
})

it('says with 502 that nobody answers where the ingress leads', async () => {
  const emulator = await startEmulator()
  emulator.useIngress(`https://${host}/`, 'http://127.0.0.1:1/')
  const answer = await send(emulator, '/api/events', { headers: { host } })
  expect(answer).toMatchObject({ status: 502, body: expect.stringContaining('to http://127.0.0.1:1') })
})

it('says with 502 that somebody switched to another protocol there, unasked', async () => {
  const emulator = await startEmulator()
  await openWebhook(emulator, () => ({ status: 101, headers: { connection: 'upgrade', upgrade: 'x' } }))
  expect((await send(emulator, '/api/events', { headers: { host } })).status).toBe(502)
})

it('cuts an answer off where it was cut off behind the ingress', async () => {
  const emulator = await startEmulator()
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': '9' })
    response.write('cut', () => response.destroy())
  })
  emulator.useIngress(`https://${host}/`, `http://127.0.0.1:${await listen(server)}/`)
  await expect(send(emulator, '/api/events', { headers: { host } })).rejects.toThrow()
})

it('tells programs on this machine its endpoints and its certificate authority', async () => {
  const emulator = await startEmulator()
  const { endpoints } = emulator
  const told = await fetch(`${emulator.proxy}/emulator/endpoints`)
  expect(await told.json()).toEqual(endpoints)
  expect((await send(emulator, '/emulator/endpoints', { headers: { host: 'evil.example.com' } })).status).toBe(403)
  const foreign = await fetch(`${emulator.proxy}/emulator/endpoints`, { headers: { 'sec-fetch-site': 'cross-site' } })
  expect(foreign.status).toBe(403)
})

describe('a request with the header x-eventgrid-emulator-route goes where a delivery goes', () => {
  const routed = { 'x-eventgrid-emulator-route': 'delivery' }

  it('by a rule, for a name of this machine too, and without that header', async () => {
    const emulator = await startEmulator()
    const came: IncomingMessage[] = []
    const server = createServer((request, response) => {
      came.push(request)
      response.writeHead(202).end('taken')
    })
    emulator.setIngress([{ from: 'https://localhost:9443/', to: `http://127.0.0.1:${await listen(server)}/` }])
    const headers = { ...routed, host: 'localhost:9443', 'content-type': 'text/plain' }
    const answer = await send(emulator, '/api/events?code=1', { method: 'POST', headers, body: 'hello' })
    expect(answer).toMatchObject({ status: 202, body: 'taken' })
    expect(came).toMatchObject([{ method: 'POST', url: '/api/events?code=1', headers: { host: 'localhost:9443' } }])
    expect(came[0]?.headers).not.toHaveProperty('x-eventgrid-emulator-route')
  })

  it('without a rule to the URL itself, and says why nobody is there', async () => {
    const emulator = await startEmulator()
    emulator.setIngress([])
    const headers = { ...routed, host: 'no-such-host.invalid' }
    const answer = await send(emulator, '/api/events', { method: 'OPTIONS', headers })
    expect(answer).toMatchObject({ status: 502, headers: { 'x-eventgrid-emulator-route': 'failed' } })
    expect(answer.body).toContain('no ingress rule matches https://no-such-host.invalid/api/events')
  })

  it('and comes back to the emulator once where its URL is that of the emulator', async () => {
    const emulator = await startEmulator()
    const { host } = new URL(emulator.endpoints.resourceManager)
    emulator.setIngress(() => emulator.endpoints.resourceManager)
    const answer = await send(emulator, '/subscriptions', { method: 'OPTIONS', headers: { ...routed, host } })
    expect(answer.status).toBeGreaterThanOrEqual(400)
  })

  it('with a body of 64 KiB at most', async () => {
    const emulator = await startEmulator()
    const webhook = await openWebhook(emulator)
    const headers = { ...routed, host }
    const answer = await send(emulator, '/api/events', { method: 'POST', headers, body: 'x'.repeat(65_537) })
    expect(answer.status).toBe(413)
    expect(webhook.calls).toEqual([])
  })
})
