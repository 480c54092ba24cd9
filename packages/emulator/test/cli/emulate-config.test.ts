import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { loadConfig } from '../../src/cli/emulator-config.ts'
import { startSubscriber } from '../subscriber.ts'
import { startProgram } from '../support/program.ts'
import { auditConfig, configFile, publish, startEmulate } from './emulate-command.ts'

it('names each fault of a configuration, with exit code 2', async () => {
  const file = configFile('port: 70000\ntopics:\n  - nmae: orders\n    name: orders\n')
  const command = startProgram(['--config', file])
  expect(await command.ended).toBe(2)
  expect(command.lines).toEqual([
    `eventgrid-emulator: ${file} has 2 faults:`,
    `${file}:1:7: port must be a port, 0 to 65535`,
    '  1 | port: 70000',
    '    |       ^',
    `${file}:3:5: topics[0].nmae is not a field; did you mean name?`,
    '  3 |   - nmae: orders',
    '    |     ^',
  ])
})

it.each([
  {
    name: 'is too large',
    content: `#${'x'.repeat(16_777_216)}`,
    said: /emulator\.yaml can't be read: it is larger than 16777216 bytes$/,
  },
  {
    name: 'is not UTF-8',
    content: Buffer.from('host: caf\xe9', 'latin1'),
    said: /emulator\.yaml can't be read: it is neither UTF-8 nor UTF-16 with a byte order mark$/,
  },
  { name: 'is not there', content: undefined, said: /emulator\.yaml can't be read: ENOENT/ },
])('refuses a configuration that $name', ({ content, said }) => {
  const file = join(temporaryFolder(), 'emulator.yaml')
  if (content !== undefined) writeFileSync(file, content)
  expect(() => loadConfig(file)).toThrow(said)
})

it('has options of the command line win over those of the file, whose paths are its own', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'emulator.yaml')
  writeFileSync(file, 'port: 1\nhttpPort: 1025\nstate: kept.db\ntopics: [{ name: shop }]\n')
  const emulate = await startEmulate(['--config', file])
  expect((await publish(await emulate.topic('shop'), ['a'])).status).toBe(200)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  renameSync(join(folder, 'kept.db'), join(folder, 'found.db'))
})

it('serves public URLs where --ingress says, before the rules of the file, and after the file was read again too', async () => {
  const [first, second] = [await startSubscriber(), await startSubscriber()]
  const file = configFile(auditConfig('http://127.0.0.1:1/'))
  const rules = [
    '--ingress',
    `https://more.example/=${second.url}/`,
    '--ingress',
    `https://audit.example/=${first.url}/`,
  ]
  const emulate = await startEmulate(['--config', file, ...rules])
  await emulate.line(/handshake audit .* validated$/)
  const more = '  - { name: more, endpoint: "https://more.example/hook" }\ningress:'
  writeFileSync(file, auditConfig('http://127.0.0.1:1/').replace('ingress:', more))
  await emulate.line(/handshake more .* validated$/)
  expect((await publish(await emulate.topic('orders'), ['a'])).status).toBe(200)
  await emulate.line(/200 {2}audit <- /)
  expect([first.requests.at(-1)?.method, second.requests[0]?.url]).toEqual(['POST', '/hook'])
})

it('takes over a topic that is added while it runs, and lets go of one that is taken out', async () => {
  const file = configFile('topics: [{ name: orders }]')
  const emulate = await startEmulate(['--config', file])
  const orders = await emulate.topic('orders')
  writeFileSync(file, 'topics: [{ name: returns }]')
  await emulate.line(/emulator\.yaml: taken over$/)
  expect((await publish(await emulate.topic('returns'), ['a'])).status).toBe(200)
  expect((await publish(orders, ['b'])).status).toBe(404)
})

it('shows a domain and a namespace topic that are added while it runs, and those that were there once', async () => {
  const configOf = (domains: string, topics: string) =>
    `domains: [{ name: shop }${domains}]\nnamespaces: [{ name: depot, topics: [{ name: orders }${topics}] }]`
  const file = configFile(configOf('', ''))
  const emulate = await startEmulate(['--config', file])
  await emulate.line(/^domain shop$/)
  writeFileSync(file, configOf(', { name: market }', ', { name: returns }'))
  await emulate.line(/^domain market$/)
  await emulate.line(/emulator\.yaml: taken over$/)
  const shown = emulate.lines.filter((line) => /^(domain|namespace topic) /.test(line))
  expect(shown.toSorted()).toEqual([
    ...['domain market', 'domain shop'],
    ...['namespace topic orders', 'namespace topic returns'],
  ])
  expect(emulate.lines.join('\n')).not.toContain('next start')
})

it('leaves what was in force when the file breaks, says so, and goes on when it is mended', async () => {
  const subscriber = await startSubscriber()
  const good = auditConfig(subscriber.url)
  const file = configFile(good)
  const emulate = await startEmulate(['--config', file])
  await emulate.line(/handshake audit .* validated$/)
  const topic = await emulate.topic('orders')
  writeFileSync(file, `${good}\ntopics: [{ name: my_topic }]\n`)
  await emulate.line(/emulator\.yaml:\d+:1: has the key "topics" twice$/)
  await emulate.line(/emulator\.yaml: the previous version stays active$/)
  await publish(topic, ['a'])
  await emulate.line(/200 {2}audit <- order.placed a$/)
  writeFileSync(file, `${good}\nconcurrency: 2\n`)
  await emulate.line(/emulator\.yaml: concurrency will take effect at the next start$/)
  await emulate.line(/emulator\.yaml: taken over$/)
  await publish(topic, ['b'])
  await emulate.line(/200 {2}audit <- order.placed b$/)
  expect(emulate.lines.filter((line) => line.includes('handshake audit'))).toHaveLength(1)
})

it('says that a folder took the place of the file', async () => {
  const file = configFile('topics: [{ name: orders }]')
  const emulate = await startEmulate(['--config', file])
  rmSync(file)
  mkdirSync(file)
  await emulate.line(/emulator\.yaml can't be read: EISDIR/)
  await emulate.line(/emulator\.yaml: the previous version stays active$/)
})

it('stays as it is when the file goes away, and follows the one that takes its place', async () => {
  const file = configFile('topics: [{ name: orders }]')
  const emulate = await startEmulate(['--config', file])
  rmSync(file)
  await emulate.line(/emulator\.yaml can't be read: ENOENT/)
  await emulate.line(/emulator\.yaml: the previous version stays active$/)
  expect((await publish(await emulate.topic('orders'), ['a'])).status).toBe(200)
  writeFileSync(`${file}.new`, 'topics: [{ name: orders }]')
  renameSync(`${file}.new`, file)
  await emulate.line(/emulator\.yaml: taken over$/)
})
