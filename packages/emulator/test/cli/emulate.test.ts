import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { startSubscriber } from '../subscriber.ts'
import { auditConfig, configFile, publish, startEmulate } from './emulate-command.ts'

const liveTerminal = { NODE_OPTIONS: '--import data:text/javascript,process.stdout.isTTY=true' }

it('prints endpoints, topics with their keys, clients and lines for a shell', async () => {
  const emulate = await startEmulate()
  const { endpoint, httpEndpoint, key, scope } = await emulate.topic('orders')
  expect(emulate.lines.slice(0, 3)).toEqual([
    `Resource Manager and Entra   ${emulate.resourceManager}`,
    `topics over http, and proxy  ${emulate.proxy}`,
    `page                         ${emulate.proxy}/`,
  ])
  expect(endpoint).toBe(`${emulate.resourceManager}/topics/orders/api/events`)
  expect(httpEndpoint).toBe(`${emulate.proxy}/topics/orders/api/events`)
  expect(Buffer.from(key, 'base64')).toHaveLength(32)
  expect(scope).toMatch(/^\/subscriptions\/.+\/resourceGroups\/rg\/providers\/Microsoft.EventGrid\/topics\/orders$/)
  expect(emulate.lines.join('\n')).toMatch(
    /^client .+\n {2}tenant {2}.+\n {2}secret {2}.+\n {2}role {4}EventGrid EventS/m,
  )
  expect(emulate.environment().map((line) => line.split(/[ =]/)[1])).toEqual([
    'AZURE_RESOURCE_MANAGER_URL',
    'AZURE_AUTHORITY_HOST',
    'NODE_EXTRA_CA_CERTS',
    'AZURE_TENANT_ID',
    'AZURE_CLIENT_ID',
    'AZURE_CLIENT_SECRET',
    'AZURE_SUBSCRIPTION_ID',
  ])
  expect(await (await fetch(`${emulate.proxy}/`)).text()).toContain('<html')
})

it('writes one line for each handshake and each delivery, without the query of a URL', async () => {
  const subscriber = await startSubscriber()
  const emulate = await startEmulate(['--config', configFile(auditConfig(subscriber.url))])
  const query = '\\?\\(redacted\\)'
  const route = `https://audit\\.example/api/events${query} at ${subscriber.url}/api/events${query}`
  await emulate.line(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}200 {2}handshake audit {2}OPTIONS ${route} {2}validated$`))
  subscriber.answer({ status: 500 })
  await publish(await emulate.topic('orders'), ['a'])
  await emulate.line(
    new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}500 {2}audit <- order.placed a {2}try 2 in \\d+ ms {2}${route}$`),
  )
  await emulate.line(/^\d\d:\d\d:\d\d {2}200 {2}audit <- order.placed a {2}at try 2$/)
  expect(emulate.lines.filter((line) => line.includes('audit <- '))).toHaveLength(2)
  expect(emulate.lines.join('\n')).not.toContain('s3cret')
})

it('delivers to a local URL by one option, and says what became of publishes', async () => {
  const subscriber = await startSubscriber()
  const emulate = await startEmulate([
    '--deliver',
    `orders=${subscriber.url}/hook`,
    '--deliver',
    `returns=${subscriber.url}/`,
  ])
  await emulate.line(/200 {2}handshake orders .* validated$/)
  const topic = await emulate.topic('orders')
  await publish(topic, ['a'])
  await emulate.line(/200 {2}publish to orders {2}order.placed a {2}the first to this topic$/)
  await emulate.line(/200 {2}orders <- order.placed a$/)
  expect(subscriber.deliveries().map(({ url }) => url)).toEqual(['/hook'])
  await publish({ ...topic, key: 'd3Jvbmc=' }, ['b'])
  await emulate.line(/401 {2}publish to orders {2}Unauthorized: The request authorization key/)
  await publish({ ...topic, httpEndpoint: `${emulate.proxy}/topics/nobody/api/events` }, ['c'])
  await emulate.line(/404 {2}publish to nobody {2}NotFound: /)
  expect(emulate.lines.join('\n')).not.toContain('next step')
})

it('says that an event goes nowhere, and names the next step where no event subscription exists', async () => {
  const emulate = await startEmulate()
  await publish(await emulate.topic('orders'), ['a'])
  await emulate.line(/200 {2}publish to orders {2}order.placed a {2}no event subscription takes it$/)
  expect(emulate.lines.join('\n')).toMatch(
    /^next step: (npx|node) \S+ --deliver orders=http:\/\/127\.0\.0\.1:3000\/hook$/m,
  )
})

it('names no next step where an ingress shows that a program makes the event subscription', async () => {
  const emulate = await startEmulate(['--ingress', 'https://orders.example.com=http://127.0.0.1:9000'])
  expect(emulate.lines.join('\n')).not.toContain('next step')
})

it('has one blob endpoint for all accounts, and says that Azurite is not there', async () => {
  const config = configFile('{ storage: [{ account: acc, azurite: "http://127.0.0.1:1" }] }')
  const storage = ['--storage', 'devstoreaccount1=http://127.0.0.1:1', '--blob-port', '0']
  const emulate = await startEmulate(['--config', config, ...storage])
  const endpoints = emulate.lines.flatMap((line) => /BlobEndpoint {2}(http:.*)/.exec(line)?.[1] ?? [])
  expect(endpoints.map((url) => new URL(url).pathname)).toEqual(['/acc', '/devstoreaccount1'])
  expect(new Set(endpoints.map((url) => new URL(url).origin)).size).toBe(1)
  expect((await fetch(`${endpoints[1]}/c/b`)).status).toBe(502)
  await emulate.line(/502 {2}blobs of devstoreaccount1 {2}AzuriteUnavailable: .*Start Azurite there/)
})

it('refuses a port in --storage, and names the option that there is now', async () => {
  await expect(startEmulate(['--storage', 'devstoreaccount1:4440=http://127.0.0.1:1'])).rejects.toThrow(
    /it ended \(2\)[\s\S]*--storage takes no port any more: all accounts are at --blob-port/,
  )
})

it.each(['orders', 'orders=', 'orders=localhost', '=http://127.0.0.1/', 'a b=http://127.0.0.1/'])(
  'refuses --deliver %s',
  async (rule) => {
    await expect(startEmulate(['--deliver', rule])).rejects.toThrow(
      /it ended \(2\)[\s\S]*--deliver takes a topic and a URL/,
    )
  },
)

it('colours the lines on a terminal', async () => {
  const emulate = await startEmulate([], liveTerminal)
  await publish({ ...(await emulate.topic('orders')), key: 'd3Jvbmc=' }, ['a'])
  const line = await emulate.line(/publish to orders/)
  expect(line.input).toContain('\x1b[31m401 \x1b[0m publish to orders')
})

it('writes no such lines when it is to be quiet', async () => {
  const subscriber = await startSubscriber()
  const emulate = await startEmulate(['--quiet', '--config', configFile(auditConfig(subscriber.url))])
  const topic = await emulate.topic('orders')
  // Nothing says when the handshake is over.
  while (subscriber.deliveries().length === 0) await publish(topic, ['a'])
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  const after = emulate.lines.slice(emulate.lines.findIndex((line) => line.startsWith('ready: ')) + 1)
  expect(after).toEqual([expect.stringMatching(/^SIGTERM: /), expect.stringMatching(/^ended: /)])
})

it('shows a live line on a terminal only', async () => {
  const [piped, watched] = await Promise.all([startEmulate(), startEmulate([], liveTerminal)])
  await watched.line(/0 events\/s, 0 pending, 0 delivered, 0 dead-lettered/)
  expect(piped.lines.join('\n')).not.toContain('events/s')
  expect(piped.lines.join('\n')).not.toContain('\x1b')
})

it('writes its certificate authority to the file asked for, and leaves it there', async () => {
  const file = join(temporaryFolder(), 'ca.pem')
  const emulate = await startEmulate(['--ca', file])
  expect(readFileSync(file, 'utf8')).toContain('BEGIN CERTIFICATE')
  expect(emulate.environment()).toContain(`export NODE_EXTRA_CA_CERTS=${file}`)
  emulate.process.kill('SIGTERM')
  await emulate.ended
  expect(existsSync(file)).toBe(true)
})

it('takes its certificate authority away at the end where no file was asked for', async () => {
  const emulate = await startEmulate()
  const line = emulate.environment().find((each) => each.includes('NODE_EXTRA_CA_CERTS')) ?? ''
  const [, file = ''] = line.split('=')
  expect(existsSync(file)).toBe(true)
  emulate.process.kill('SIGTERM')
  await emulate.ended
  expect(existsSync(file)).toBe(false)
})

const noFolder = join(import.meta.dirname, 'none')

it.each([
  { name: 'to the file asked for', args: ['--ca', join(noFolder, 'ca.pem')], env: {} },
  { name: 'to the folder for temporary files', args: [], env: { TMPDIR: noFolder } },
])('ends with exit code 2 where the certificate authority cannot be written $name', async ({ args, env }) => {
  await expect(startEmulate(args, env)).rejects.toThrow(/it ended \(2\)[\s\S]*--ca: ENOENT.*; name another file/)
})
