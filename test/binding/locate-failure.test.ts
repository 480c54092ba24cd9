import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import { Binding, parseComponents } from '../../src/index.ts'
import { captureLog } from '../support/captured-log.ts'
import { componentYaml } from '../support/component-folder.ts'
import { listen } from '../support/listen.ts'
import { refusal } from '../support/refusal.ts'
import { startEmulator } from '../support/start-emulator.ts'

/** A component of a file, on the emulator. `fields` replace those that work. */
async function openFile(handshakePort: string, fields: Record<string, string> = {}) {
  const emulator = await startEmulator()
  const secrets = { 'orders-clientSecret': emulator.clientSecret, 'orders-accessKey': emulator.topic().key }
  const text = componentYaml(emulator, { handshakePort, fields })
  const [component] = parseComponents(text, { file: 'orders.yaml', secrets })
  const log = captureLog()
  const binding = new Binding({ endpoints: emulator.endpoints, logger: log })
  onTestFinished(() => binding.close())
  const lineOf = (field: string) => 1 + text.split('\n').findIndex((line) => line.includes(`name: ${field},`))
  return { binding, component, log, lineOf }
}

it.each([
  ['accessKey', 'd3Jvbmcga2V5', 'CREDENTIALS_REJECTED'],
  ['topicEndpoint', 'https://nothing.westeurope-1.eventgrid.azure.net/api/events', 'PUBLISH_REJECTED'],
])('names file and line of %s, as %s, by create', async (field, value, code) => {
  const { binding, component, lineOf } = await openFile('0', { [field]: value })
  await binding.init(component, { subscription: 'background' })
  const refused = await refusal(binding.invoke('create', { order: 1 }))
  expect(refused.code).toBe(code)
  expect(refused.message).toMatch(new RegExp(`${field} at orders\\.yaml:${lineOf(field)}:\\d+`))
})

it('names file, line and field of a port that is taken', async () => {
  const { binding, component, lineOf } = await openFile(String(await listen(createServer(), '::')))
  const { code, message } = await refusal(binding.init(component))
  expect(code).toBe('PORT_UNAVAILABLE')
  expect(message).toMatch(new RegExp(`\\(handshakePort at orders\\.yaml:${lineOf('handshakePort')}:\\d+\\)`))
})

it.each([
  ['scope', 'SCOPE_NOT_FOUND', (subscription: string) => `/subscriptions/${subscription}/resourceGroups/none`],
  ['clientSecret', 'CREDENTIALS_REJECTED', () => 'another secret'],
] as const)('names file and line of %s for %s, in the error and in the log', async (field, code, value) => {
  const emulator = await startEmulator()
  const { binding, component, log, lineOf } = await openFile('0', { [field]: value(emulator.subscriptionId) })
  const place = new RegExp(`${field} at orders\\.yaml:${lineOf(field)}:\\d+`)
  const refused = await refusal(binding.init(component))
  expect(refused.code).toBe(code)
  expect(refused.message).toMatch(place)
  await binding.init(component, { subscription: 'background' })
  const fields = expect.objectContaining({ code, place: expect.stringMatching(place) })
  await expect.poll(() => log.lines).toContainEqual(expect.objectContaining({ fields }))
})
