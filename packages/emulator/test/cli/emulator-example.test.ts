import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { configFile, startEmulate } from './emulate-command.ts'

const root = resolve(import.meta.dirname, '../../../..')
const example = readFileSync(resolve(root, 'examples/emulator/emulator.yaml'), 'utf8')

/** Starts the example's webhook on a free port. */
async function startAudit() {
  const program = resolve(root, 'examples/emulator/audit.ts')
  const audit = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void audit.kill('SIGKILL'))
  const lines = createInterface({ input: audit.stdout })[Symbol.asyncIterator]()
  const line = async () => String((await lines.next()).value)
  const port = (await line()).replace('audit listens on port ', '')
  return { line, port }
}

/** The request of a curl command. */
function requestOf(command: string) {
  const quoted = (option: string) =>
    [...command.matchAll(new RegExp(`${option} '([^']*)'`, 'g'))].map(([, text = '']) => text)
  const headers = quoted('-H').map((header): [string, string] => {
    const [name = '', value = ''] = header.split(': ')
    return [name, value]
  })
  return { method: 'POST', headers, body: quoted('-d')[0] ?? '' }
}

it('delivers what the page says to publish to the webhook of the example, and filters the rest', async () => {
  const { port, line } = await startAudit()
  const emulate = await startEmulate(['--config', configFile(example.replace('127.0.0.1:3000', `127.0.0.1:${port}`))])
  await emulate.line(/handshake audit .* validated$/)
  const page = readFileSync(resolve(root, 'packages/emulator/docs/emulator.md'), 'utf8')
  const [curl = '', path = ''] = /^curl http:\/\/127\.0\.0\.1:4431(\S+) .*$/m.exec(page) ?? []
  const request = requestOf(curl)
  const viewed = { ...request, body: request.body.replace('order.placed', 'order.viewed') }
  expect((await fetch(`${emulate.proxy}${path}`, viewed)).status).toBe(200)
  expect((await fetch(`${emulate.proxy}${path}`, request)).status).toBe(200)
  expect(await line()).toBe("order.placed { order: 'one' }")
})

it('has what the example lists', async () => {
  const emulate = await startEmulate(['--quiet', '--config', configFile(example)])
  expect((await emulate.topic('orders')).key).toBe('Zmlyc3Qta2V5LW9mLW9yZGVycw==')
  expect((await emulate.topic('resources')).scope).toMatch(/5ab5c21b.*resourceGroups\/shop\/.*topics\/resources$/)
  expect(emulate.environment().slice(-4)).toEqual([
    'export AZURE_TENANT_ID=7e57ed00-0000-4000-8000-000000000001',
    'export AZURE_CLIENT_ID=c11e0700-0000-4000-8000-000000000003',
    'export AZURE_CLIENT_SECRET=the-secret-of-the-shop',
    'export AZURE_SUBSCRIPTION_ID=5ab5c21b-0000-4000-8000-000000000002',
  ])
})
