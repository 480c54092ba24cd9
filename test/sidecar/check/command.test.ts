import { rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clockFinding, compareClock } from '../../../src/sidecar/check/checks/check-machine.ts'
import { UsageError } from '../../../src/support/command-line/options.ts'
import { componentFile, componentYaml } from '../../support/component-folder.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { listen } from '../../support/listen.ts'
import { openIngress } from '../../support/public-ingress.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { openCheck, runCheck } from './open-check.ts'

it.each([
  { args: ['--only', 'endpont'], says: /did you mean endpoint\?/ },
  { args: ['--skip', 'azure/permision'], says: /did you mean azure\/permission\?/ },
  { args: ['--wait', '2'], says: /--wait .*like 2m/ },
  { args: ['--offline', '--round-trip'], says: /--round-trip publishes an event/ },
  { args: ['--only', 'machine/sidecar'], says: /machine\/sidecar needs --sidecar/ },
  { args: ['--only', 'round-trip'], says: /round-trip\/event needs --round-trip/ },
  { args: ['--offline', '--only', 'azure,files'], says: /--offline rules out azure/ },
  { args: ['--only', 'topic', '--skip', 'topic'], says: /--skip leaves no check/ },
  { args: ['--ca', 'ca.pem'], says: /--ca needs --emulator/ },
  { args: ['--emulator', 'https://emulator.example.com'], says: /not on this machine.*--ca FILE/ },
])('is wrong usage: $args', async ({ args, says }) => {
  const run = runCheck(args)
  await expect(run).rejects.toBeInstanceOf(UsageError)
  await expect(run).rejects.toThrow(says)
})

it('names a type that was probably meant: alone as wrong usage, beside components as a warning', async () => {
  const { folder, check, emulator } = await openCheck()
  const meant = 'did you mean bindings.azure.eventgrid?'
  const misspelt = (name: string) => output(name, emulator.topic('orders')).replace('eventgrid', 'eventgird')
  folder.write('stock.yaml', misspelt('stock'))
  const { code, said } = await check('--offline')
  expect(code).toBe(0)
  expect(said('files/yaml')).toContain(meant)
  expect((await check('--offline', '--strict', 'files')).code).toBe(1)
  expect((await check('--offline', '--strict', 'azure')).code).toBe(0)
  folder.remove('orders.yaml')
  await expect(check('--offline')).rejects.toThrow(meant)
})

it('runs with --only nothing else, prerequisites neither, and without --skip all but those', async () => {
  const { check, write } = await openCheck()
  const only = await check('--only', 'azure/scope,topic')
  expect(Object.keys(only.status).sort()).toEqual(['azure/scope', 'topic/certificate', 'topic/credential', 'topic/dns'])
  expect((await check('--skip', 'endpoint,azure')).idsThat('ok')).not.toContain('azure/scope')
  write({ clientSecret: 'a-secret-of-somebody-else' })
  expect((await check('--only', 'azure/scope')).idsThat('failed')).toEqual(['azure/scope'])
})

it('asks nobody with --offline', async () => {
  const { check, emulator } = await openCheck()
  const { status } = await check('--offline')
  expect(Object.keys(status)).toEqual(['files/yaml', 'files/metadata', 'files/secrets', 'files/names', 'machine/port'])
  expect(Object.keys((await check('--offline', '--only', 'machine')).status)).toEqual(['machine/port'])
  expect(emulator.records.requests.all()).toEqual([])
})

it('says on a terminal that it had nothing to check', async () => {
  const { folder } = await openCheck()
  const { code, text } = await runCheck(['--components', folder.path, '--only', 'pull'])
  expect(code).toBe(0)
  expect(text).toContain('! nothing was checked: none of these checks is for a component here')
})

it('waits until what failed is well', async () => {
  const { check, emulator } = await openCheck()
  emulator.unregisterProvider()
  const checking = check('--wait', '1m')
  await expect
    .poll(() => emulator.records.requests.all().some(({ url }) => url.includes('/providers/Microsoft.EventGrid?')), {
      timeout: 60_000,
    })
    .toBe(true)
  emulator.registerProvider()
  const { code, idsThat } = await checking
  expect(code).toBe(0)
  expect(idsThat('failed')).toEqual([])
}, 120_000)

it.each([
  { name: 'its scope', fields: { scope: '/subscriptions/SUB/resourceGroups/none' }, failed: 'azure/scope' },
  { name: 'its secret', fields: { clientSecret: 'another' }, failed: 'azure/credential' },
])(
  'asks all again with --wait of a component that was changed meanwhile: $name',
  async ({ fields, failed }) => {
    const { write, check, emulator } = await openCheck()
    const askedFor = () =>
      emulator.records.requests.all().filter(({ url }) => url.includes('/providers/Microsoft.EventGrid?')).length
    emulator.unregisterProvider()
    const checking = check('--wait', '8s')
    await eventually(() => expect(askedFor()).toBeGreaterThan(0))
    const entries = Object.entries(fields).map(([field, value]) => [
      field,
      value.replace('SUB', emulator.subscriptionId),
    ])
    write(Object.fromEntries(entries))
    emulator.registerProvider()
    const { code, idsThat } = await checking
    expect(idsThat('failed')).toContain(failed)
    expect(code).toBe(1)
  },
  120_000,
)

it('says with --wait that there is no component any more once its file is gone', async () => {
  const { folder, check, emulator } = await openCheck()
  emulator.unregisterProvider()
  const checking = check('--wait', '30s')
  await eventually(() => expect(emulator.records.requests.all().length).toBeGreaterThan(0))
  rmSync(join(folder.path, 'orders.yaml'))
  await expect(checking).rejects.toThrow('holds no component')
})

it('repeats with --wait what failed of each of two components of one name', async () => {
  quickenTime()
  const { check, folder, emulator } = await openCheck()
  folder.write('orders.yaml', ['twin', 'twin'].map((name) => output(name, emulator.topic('orders'))).join('\n---\n'))
  const { code, said, idsThat } = await check('--offline', '--wait', '3s')
  expect([code, ...idsThat('failed')]).toEqual([1, 'files/names'])
  expect(said('files/names')).toContain('is called "twin" too')
})

it('checks one component of a folder with --component, and tells two on one port', async () => {
  const { check, folder, emulator, port } = await openCheck()
  folder.write('output.yaml', output('stock', emulator.topic('orders')))
  expect((await check('--component', 'stock')).components).toEqual(['stock'])
  await expect(check('--component', 'stok')).rejects.toThrow(
    /holds no component "stok" of ours; there is orders, stock$/,
  )
  folder.write(
    'zz-twin.yaml',
    componentYaml(emulator, {
      name: 'twin',
      topic: 'orders',
      handshakePort: String(port),
      fields: {
        clientSecret: emulator.clientSecret,
        accessKey: emulator.topic('orders').key,
        subscriberEndpoint: 'https://orders.example.com/api/events',
      },
    }),
  )
  const { said } = await check('--only', 'machine/port')
  expect(said('machine/port')).toContain(`component "orders" has handshakePort ${port} too`)
})

it('tells that who has the port switches to another protocol, unasked', async () => {
  const { check, port } = await openCheck()
  const server = createServer((_request, response) =>
    response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(),
  )
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
  onTestFinished(() => void server.close())
  expect((await check('--only', 'machine/port')).said('machine/port')).toContain('its holder answers OPTIONS with 101')
})

const output = (name: string, { endpoint, key }: { readonly endpoint: string; readonly key: string }) =>
  componentFile(name, { topicEndpoint: endpoint, accessKey: key })

it('leaves its own words readable where a secret is one of them', async () => {
  const { write, check } = await openCheck()
  write({ clientSecret: 'valid', accessKey: 'emulator' })
  const { text } = await check('--offline')
  expect(text).toContain('valid: input and output')
})

it('shows no secret of the component, whatever fails', async () => {
  const { check, write, emulator } = await openCheck()
  write({
    clientSecret: 'a-very-secret-secret',
    accessKey: 'bm90IHRoZSBrZXkgb2YgdGhpcyB0b3BpYw==',
    subscriberEndpoint: 'https://orders.example.com/api/events?code=hidden-code',
  })
  const { text } = await check('--round-trip')
  for (const secret of [
    'a-very-secret-secret',
    'bm90IHRoZSBrZXkgb2YgdGhpcyB0b3BpYw==',
    'hidden-code',
    emulator.clientSecret,
  ]) {
    expect(text).not.toContain(secret)
  }
})

const hostile: readonly { readonly name: string; readonly answer: RequestListener; readonly says: RegExp }[] = [
  {
    name: 'that never ends',
    answer(_request, response) {
      response.writeHead(200)
      const more = () => response.write('x'.repeat(65_536), (error) => void (error || setImmediate(more)))
      more()
    },
    says: /without WebHook-Allowed-Origin/,
  },
  {
    name: 'that sends somebody elsewhere',
    answer: (_request, response) => response.writeHead(302, { location: 'https://evil.example.com/?q=1' }).end(),
    says: /a redirect that Event Grid does not follow, to https:\/\/evil\.example\.com\/\?\(redacted\)/,
  },
  {
    name: 'that sends somebody to a login, with what it was asked',
    answer: ({ url = '' }, response) =>
      response.writeHead(302, { location: `/login/${encodeURIComponent(url)}?rd=${encodeURIComponent(url)}` }).end(),
    says: /a redirect that Event Grid does not follow, to \/login\//,
  },
  {
    name: 'that shows what it was asked in a page and a header',
    answer: ({ url = '' }, response) =>
      response
        .writeHead(403, { 'content-type': 'text/html', server: `at ${url}` })
        .end(`<html><title>No way to ${url} (${decodeURIComponent(url.replace(/.*code=/, ''))})</title>`),
    says: /server: at \/api\/events.*page: "No way to/,
  },
  {
    name: 'that switches to another protocol',
    answer: (_request, response) => response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(),
    says: /OPTIONS was answered (101|502)/,
  },
  {
    name: 'of a firewall',
    answer: (_request, response) =>
      response
        .writeHead(403, { 'content-type': 'text/html', server: 'waf' })
        .end('<html><title>\u001b[2JAccess  denied\u202e</title>'),
    says: /server: waf, page: "\[2JAccess denied"[\s\S]*920300/,
  },
  {
    name: 'that wants a credential',
    answer: (_request, response) => response.writeHead(401).end(),
    says: /answered 401[\s\S]*allow-anonymous/,
  },
  {
    name: 'that consents to somebody else',
    answer: (_request, response) => response.writeHead(200, { 'webhook-allowed-origin': 'eventgrid.azure.us' }).end(),
    says: /with WebHook-Allowed-Origin: eventgrid\.azure\.us/,
  },
]

it.each(hostile)('is harmed by no answer: one $name', async ({ answer, says }) => {
  const { check, emulator, write } = await openCheck()
  write({ subscriberEndpoint: 'https://orders.example.com/api/events?code=hidden%2Bcode%3D' })
  const server = createServer(answer)
  emulator.useIngress('https://orders.example.com/', `http://127.0.0.1:${await listen(server)}/`)
  const { said, text, idsThat } = await check('--only', 'endpoint')
  expect(idsThat('failed')).toEqual(['endpoint/handshake'])
  expect(said('endpoint/handshake')).toMatch(says)
  expect(text).not.toMatch(/hidden|%2Bcode/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there.
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

const noRule =
  /does not reach https:\/\/orders\.example\.com\/api\/events: .*no ingress rule[\s\S]*--ingress https:\/\/orders\.example\.com\/=/

it.each([
  { name: 'there is none', from: 'https://other.example.com/', says: noRule },
  { name: 'one has another path', from: 'https://orders.example.com/other', says: noRule },
  {
    name: 'one leads nowhere',
    from: 'https://orders.example.com/',
    says: /nothing listens at http:\/\/127\.0\.0\.1:1, where https:\/\/orders\.example\.com leads/,
  },
])('says what is wrong with the ingress rules of an emulator: $name', async ({ from, says }) => {
  const { check, emulator } = await openCheck()
  emulator.setIngress([{ from, to: 'http://127.0.0.1:1/' }])
  const { said } = await check('--only', 'endpoint')
  expect(said('endpoint/handshake')).toMatch(says)
})

describe('check on the emulator reaches whom the emulator reaches:', () => {
  it('an endpoint of this machine that an ingress rule leads elsewhere', async () => {
    const { check, emulator, port, write } = await openCheck()
    const nobody = await freePort()
    write({ subscriberEndpoint: `https://localhost:${nobody}/api/events` })
    emulator.setIngress([{ from: `https://localhost:${nobody}/`, to: `http://127.0.0.1:${port}/` }])
    const { idsThat } = await check('--only', 'endpoint')
    expect(idsThat('ok')).toContain('endpoint/handshake')
    expect(idsThat('failed')).toEqual([])
  })

  it('an endpoint that no rule leads anywhere, whose authority the emulator alone trusts', async () => {
    const ingress = await openIngress()
    const { check, port, write, emulator } = await openCheck({ trustedCertificates: [ingress.ca] })
    ingress.route(() => port)
    write({ subscriberEndpoint: ingress.url })
    emulator.setIngress([])
    const { idsThat } = await check('--only', 'endpoint')
    expect(idsThat('ok')).toContain('endpoint/handshake')
    expect(idsThat('failed')).toEqual([])
  })

  it('not one whose authority the emulator does not trust, nor one that speaks plain http', async () => {
    const ingress = await openIngress()
    const { check, port, write, emulator } = await openCheck()
    emulator.setIngress([])
    ingress.route(() => port)
    write({ subscriberEndpoint: ingress.url })
    expect((await check('--only', 'endpoint')).said('endpoint/handshake')).toMatch(
      /does not reach .*self.signed certificate/,
    )
    write({ subscriberEndpoint: `https://localhost:${port}/api/events` })
    expect((await check('--only', 'endpoint')).said('endpoint/handshake')).toMatch(/does not reach https:\/\/localhost/)
  })

  it('as its deliveries show, which come where the check has come', async () => {
    const { check, emulator, port, write } = await openCheck()
    const nobody = await freePort()
    const subscriberEndpoint = `https://localhost:${nobody}/api/events`
    write({ subscriberEndpoint })
    emulator.setIngress([{ from: `https://localhost:${nobody}/`, to: `http://127.0.0.1:${port}/` }])
    const { code } = await check('--round-trip', '--skip', 'azure/subscription')
    expect(code).toBe(0)
  })
})

it('judges the clock by the date of an answer', async () => {
  const { emulator } = await openCheck()
  const { endpoints } = emulator
  const ask = (now: () => number) =>
    compareClock(
      { url: () => endpoints.resourceManager, reachedBy: 'azure/provider' },
      endpoints,
      new AbortController().signal,
      now,
    )
  expect(await ask(Date.now)).toMatchObject({ status: 'ok' })
  expect(await ask(() => Date.now() + 3_650_000)).toMatchObject({
    status: 'failed',
    detail: expect.stringMatching(/36\d\d s ahead of/),
  })
  expect(clockFinding('Mon, 23 Nov 2026 05:00:00 GMT', Date.parse('2026-11-23T04:58:00Z'))).toMatchObject({
    status: 'failed',
  })
  expect(clockFinding('nonsense', 0)).toMatchObject({ status: 'warning' })
})

it('writes a line for each check, remedies below, and counts at the end; without colours in a pipe', async () => {
  const { folder, emulator, write } = await openCheck()
  write({ accessKey: 'bm90IHRoZSBrZXkgb2YgdGhpcyB0b3BpYw==' })
  const { text, code } = await runCheck(['--components', folder.path, '--emulator', emulator.endpoints.resourceManager])
  expect(code).toBe(1)
  expect(text).toMatch(/^orders {2}\S+orders\.yaml\n {2}✓ files\/yaml/)
  expect(text).toMatch(
    /\n {2}✗ topic\/credential {6}.*answered 401.*Emulator: it prints the keys.*\n {6}→ set accessKey/,
  )
  expect(text).toMatch(/\n✗ 18 ok, 1 failed in \d+\.\d s\n {2}on the emulator: public names[^\n]*\n$/)
  expect(text).not.toContain('\u001b')
})
