import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { EmulatorEnvironment, EnvironmentLanguage } from '../../src/index.ts'
import { startSlowEndpoint, startSubscriber } from '../subscriber.ts'
import { startProgram } from '../support/program.ts'
import { auditConfig, configFile, publish, startEmulate } from './emulate-command.ts'

const post = (base: string, path: string, body: object) =>
  fetch(new URL(path, base), { method: 'POST', body: JSON.stringify(body) })

it('writes a file that says where it is, for its owner alone, and removes it at the end', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const emulate = await startEmulate(['--ready-file', file])
  const ready = JSON.parse(readFileSync(file, 'utf8'))
  expect(ready).toEqual(await (await fetch(`${emulate.proxy}/emulator/environment`)).json())
  expect([ready.http, ready.https]).toEqual([emulate.proxy, emulate.resourceManager])
  expect(readFileSync(ready.caFile, 'utf8')).toBe(ready.ca)
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['ready.json', 'ready.json.lock'])
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  expect(readdirSync(dirname(file))).toEqual([])
})

it('takes the place of the file of an emulator that was killed', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const killed = await startEmulate(['--ready-file', file])
  killed.process.kill('SIGKILL')
  await killed.ended
  expect(existsSync(file)).toBe(true)
  const second = await startEmulate(['--ready-file', file])
  expect(JSON.parse(readFileSync(file, 'utf8')).http).toBe(second.proxy)
})

it.each(['--ready-file', '--ca'])(
  'refuses the file of %s that another emulator has, under any name, and leaves it',
  async (option) => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    const first = await startEmulate([option, file])
    const content = readFileSync(file, 'utf8')
    symlinkSync(folder, join(folder, 'link'))
    for (const name of [file, join(folder, 'link', 'file')]) {
      const other = startProgram(['--port', '0', '--http-port', '0', option, name])
      expect(await other.ended).toBe(2)
      const said = `${option}: ${name} is in use by another emulator. End that one, or name another file`
      expect(other.lines).toEqual([`eventgrid-emulator: ${said}`])
    }
    // One that would not have started anyway.
    const port = String(new URL(first.resourceManager).port)
    expect(await startProgram(['--port', port, '--http-port', '0', option, file]).ended).toBe(2)
    expect(readFileSync(file, 'utf8')).toBe(content)
    first.process.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    await startEmulate([option, file])
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'file.lock', 'link'])
  },
)

it('is not ready any more when it is asked to end before it was', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const args = ['--ready-file', file, '--deliver', `orders=${await startSlowEndpoint(2_000)}/`]
  const emulate = startProgram(['--port', '0', '--http-port', '0', ...args])
  await emulate.line(/^topic orders$/)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  expect(emulate.lines.filter((line) => line.startsWith('ready: '))).toEqual([])
  expect(existsSync(file)).toBe(false)
})

it('is ready when the handshakes are over: what is published then is delivered', async () => {
  const file = join(temporaryFolder(), 'ready.json')
  const emulate = await startEmulate(['--ready-file', file, '--deliver', `orders=${await startSlowEndpoint()}/`])
  const validated = emulate.lines.findIndex((line) => / handshake orders .* validated$/.test(line))
  const ready = emulate.lines.findIndex((line) => line.startsWith('ready: '))
  expect(validated).toBeGreaterThan(0)
  expect(ready).toBeGreaterThan(validated)
  await publish(await emulate.topic('orders'), ['a'])
  await emulate.line(/200 {2}orders <- order.placed a$/)
})

it('does not overwrite a file that holds something else', async () => {
  const file = join(temporaryFolder(), 'package.json')
  writeFileSync(file, '{ "name": "shop" }')
  await expect(startEmulate(['--ready-file', file])).rejects.toThrow(
    /it ended \(2\)[\s\S]*--ready-file: .*not overwritten/,
  )
  expect(readFileSync(file, 'utf8')).toBe('{ "name": "shop" }')
})

it('ends when its parent is gone, and waits for nothing else', async () => {
  const parent = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  onTestFinished(() => void parent.kill('SIGKILL'))
  const emulate = await startEmulate(['--parent', String(parent.pid)])
  parent.kill('SIGKILL')
  expect(await emulate.ended).toBe(0)
  expect(emulate.lines.join('\n')).toContain(`process ${parent.pid} is gone: no more events are taken`)
})

it.each([
  ['0', /takes the id of a process, not "0"/],
  ['me', /takes the id of a process, not "me"/],
  ['4194305', /there is no process 4194305/],
])('refuses --parent %s', async (pid, says) => {
  await expect(startEmulate(['--parent', pid])).rejects.toThrow(says)
})

it('ends when standard input does, whatever came before', async () => {
  const emulate = await startEmulate(['--until-stdin-ends'], {}, (args, env) => startProgram(args, env, 'pipe'))
  emulate.process.stdin?.write('not read\n')
  expect((await fetch(`${emulate.proxy}/emulator/events`)).status).toBe(200)
  emulate.process.stdin?.end()
  expect(await emulate.ended).toBe(0)
  expect(emulate.lines.join('\n')).toContain('standard input has ended: no more events are taken')
})

it('has a clock that stands until it is told to move', async () => {
  const subscriber = await startSubscriber()
  subscriber.answer({ status: 503 })
  const config = configFile(auditConfig(subscriber.url).replace('retrySchedule: [20]', ''))
  const emulate = await startEmulate(['--manual-clock', '--config', config])
  await emulate.line(/^clock {24}stands until POST \/emulator\/clock$/)
  await emulate.line(/handshake audit .* validated$/)
  await publish(await emulate.topic('orders'), ['a'])
  await emulate.line(/503 {2}audit <- order.placed a/)
  expect((await post(emulate.proxy, '/emulator/settle', { timeout: '1ms' })).status).toBe(408)
  expect((await post(emulate.proxy, '/emulator/clock', { advance: '1m' })).status).toBe(200)
  expect((await post(emulate.proxy, '/emulator/settle', {})).status).toBe(200)
  expect(subscriber.deliveries()).toHaveLength(2)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
})

it("goes by the machine's clock where nobody asked for another", async () => {
  const emulate = await startEmulate()
  expect((await post(emulate.proxy, '/emulator/clock', { advance: '1m' })).status).toBe(409)
})

const trust: Readonly<Record<string, readonly string[]>> = {
  python: ['REQUESTS_CA_BUNDLE', 'SSL_CERT_FILE'],
  go: ['SSL_CERT_FILE'],
  java: ['JAVA_TOOL_OPTIONS'],
  node: ['NODE_EXTRA_CA_CERTS'],
  sh: ['CURL_CA_BUNDLE', 'SSL_CERT_FILE'],
}

it.each(Object.entries(trust))('prints the environment for %s', async (language, names) => {
  const emulate = await startEmulate(['--env', language])
  const lines = emulate.environment()
  expect(lines.map((line) => line.split(/[ =]/)[1])).toEqual([
    ...['AZURE_RESOURCE_MANAGER_URL', 'AZURE_AUTHORITY_HOST', ...names],
    ...['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET', 'AZURE_SUBSCRIPTION_ID'],
  ])
  const answer = await fetch(`${emulate.proxy}/emulator/environment`)
  const { languages } = (await answer.json()) as EmulatorEnvironment
  const { notes } = languages[language as EnvironmentLanguage]
  for (const note of notes) expect(emulate.lines).toContain(`# ${note}`)
  expect(Object.keys(languages).toSorted()).toEqual(Object.keys(trust).toSorted())
})

it('refuses a language that it does not know', async () => {
  await expect(startEmulate(['--env', 'cobol'])).rejects.toThrow(/--env takes python or go or java or node or sh/)
})
