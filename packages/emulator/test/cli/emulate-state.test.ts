import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { EventGridManagementClient } from '@azure/arm-eventgrid'
import { ClientSecretCredential } from '@azure/identity'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { startSubscriber } from '../subscriber.ts'
import { startProgram } from '../support/program.ts'
import { auditConfig, configFile, type EmulateCommand, publish, startEmulate } from './emulate-command.ts'

const owner = 'clients: [{ clientSecret: a-secret, roles: [Contributor] }]'

/** The real management client, of the first client in the banner. */
function managementOf(emulate: EmulateCommand, ca: string): EventGridManagementClient {
  const [tenant = '', client = '', secret = '', subscription = ''] = emulate
    .environment()
    .slice(-4)
    .map((line) => line.split('=')[1])
  const credential = new ClientSecretCredential(tenant, client, secret, {
    authorityHost: emulate.resourceManager,
    disableInstanceDiscovery: true,
    tlsOptions: { ca },
  })
  return new EventGridManagementClient(credential, subscription, {
    endpoint: emulate.resourceManager,
    $host: emulate.resourceManager,
    tlsOptions: { ca },
  })
}

it('has lost nothing after kill -9: accepted events, keys, topics and event subscriptions', async () => {
  const subscriber = await startSubscriber()
  const folder = temporaryFolder()
  const ca = join(folder, 'ca.pem')
  const config = configFile(auditConfig(subscriber.url, owner))
  const args = ['--config', config, '--state', join(folder, 'state.db'), '--ca', ca]

  const first = await startEmulate(args)
  await first.line(/handshake audit .* validated$/)
  const orders = await first.topic('orders')
  const management = managementOf(first, readFileSync(ca, 'utf8'))
  await management.topics.beginCreateOrUpdateAndWait('rg', 'returns', { location: 'westeurope' })
  await management.eventSubscriptions.beginCreateOrUpdateAndWait(orders.scope.slice(1), 'billing', {
    destination: { endpointType: 'WebHook', endpointUrl: 'https://audit.example/billing' },
    eventDeliverySchema: 'CloudEventSchemaV1_0',
    filter: { includedEventTypes: ['order.paid'] },
  })
  // It fails for a while, so that nothing is settled when the process is killed; what is left of that meets the second process.
  subscriber.answer(...Array.from({ length: 9 }, () => ({ status: 503 })))
  const accepted = await publish(orders, ['a', 'b', 'c'])
  expect(accepted.status).toBe(200)
  first.process.kill('SIGKILL')
  expect(await first.ended).toBe('SIGKILL')

  const second = await startEmulate(args)
  expect({ ...(await second.topic('orders')), endpoint: '', httpEndpoint: '' }).toEqual({
    ...orders,
    endpoint: '',
    httpEndpoint: '',
  })
  await second.topic('returns')
  const again = managementOf(second, readFileSync(ca, 'utf8'))
  const names: (string | undefined)[] = []
  for await (const { name } of again.eventSubscriptions.listByResource('rg', 'Microsoft.EventGrid', 'topics', 'orders'))
    names.push(name)
  expect(names.toSorted()).toEqual(['audit', 'billing'])
  for (const id of ['a', 'b', 'c']) await second.line(new RegExp(`200 {2}audit <- order.placed ${id}`))
  const bodies = subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
  expect(new Set(bodies)).toEqual(new Set(['a', 'b', 'c']))
  expect(second.lines.filter((line) => line.includes('handshake'))).toEqual([])
})

it('keeps what is undelivered when it is asked to end, and says so', async () => {
  const subscriber = await startSubscriber()
  const state = join(temporaryFolder(), 'state.db')
  const config = configFile(auditConfig(subscriber.url).replace('[20]', '[3600000]'))
  const emulate = await startEmulate(['--config', config, '--state', state])
  await emulate.line(/handshake audit .* validated$/)
  subscriber.answer({ status: 503 })
  await publish(await emulate.topic('orders'), ['a'])
  await emulate.line(/503 {2}audit <- .* try 2 in/)
  emulate.process.kill('SIGTERM')
  expect(await emulate.ended).toBe(0)
  expect(emulate.lines.at(-1)).toBe(
    'ended: 0 delivered, 0 dead-lettered, 0 dropped, 1 undelivered and kept in the state file',
  )
})

const emulateOn = (state: string) => startProgram(['--port', '0', '--http-port', '0', '--state', state])

it('refuses a state file that another emulator uses', async () => {
  const state = join(temporaryFolder(), 'state.db')
  await startEmulate(['--state', state])
  const other = emulateOn(state)
  expect(await other.ended).toBe(2)
  expect(other.lines).toEqual([
    `eventgrid-emulator: ${state} is in use by another emulator. End that one, or name another file.`,
  ])
})
