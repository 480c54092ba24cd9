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

/** A request that publishes an event of a type with the key of the example. */
const orderOf = (type: string) => ({
  method: 'POST',
  headers: { 'aeg-sas-key': 'Zmlyc3Qta2V5LW9mLW9yZGVycw==', 'content-type': 'application/cloudevents+json' },
  body: JSON.stringify({ specversion: '1.0', id: '1', source: '/shop', type, data: { order: 'one' } }),
})

it('delivers what is published to the webhook of the example, and filters the rest', async () => {
  const { port, line } = await startAudit()
  const emulate = await startEmulate(['--config', configFile(example.replace('127.0.0.1:3000', `127.0.0.1:${port}`))])
  await emulate.line(/handshake audit .* validated$/)
  const path = '/topics/orders/api/events'
  expect((await fetch(`${emulate.proxy}${path}`, orderOf('order.viewed'))).status).toBe(200)
  expect((await fetch(`${emulate.proxy}${path}`, orderOf('order.placed'))).status).toBe(200)
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
