import { expect } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { startCommand } from '../support/command.ts'
import { componentYaml, emulatorVariables, makeComponentFolder, writeSecretStore } from '../support/component-folder.ts'
import { openDaprApp } from '../support/dapr-app.ts'
import { eventually } from '../support/eventually.ts'
import { openOrders, withDaprd } from './stack.ts'

interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly body?: string
  /** The words after the error code may differ: they are those of another JSON parser, or of gRPC between daprd and us. */
  readonly ownWords?: true
}

const invoke = (body: unknown, more: Partial<ApiRequest> = {}): ApiRequest => ({
  method: 'POST',
  path: '/v1.0/bindings/orders',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...more,
})

const requests: readonly ApiRequest[] = [
  invoke({ operation: 'create', data: { order: 1 }, metadata: { id: 'one', type: 'order.placed', subject: 's' } }),
  invoke({ operation: 'create', data: [1, 'x'], metadata: { id: 'two' } }, { method: 'PUT' }),
  invoke({ operation: 'create', data: { specversion: '1.0', id: '1', source: '/shop', type: 't', data: 'text' } }),
  invoke({ operation: 'create', data: 'text', metadata: { id: 'three' } }),
  invoke({ operation: 'create', data: '{"a":1}', metadata: { id: 'four' } }),
  invoke({ operation: 'create', data: '12', metadata: { id: 'five' } }),
  invoke({ operation: 'create', data: 12.5, metadata: { id: 'six' } }),
  invoke({ operation: 'create', data: false, metadata: { id: 'seven' } }),
  invoke({ operation: 'create', metadata: { id: 'eight' } }),
  ...['plain text', '"quoted"', '', '[half', 17, -0.5, true, null].map((data) =>
    invoke({ operation: 'create', data, metadata: { id: 'scalar' } }),
  ),
  invoke({ operation: 'create', metadata: { id: 'without data' } }),
  invoke({ operation: 'get', data: 1 }),
  invoke({ data: 1 }),
  invoke({ operation: 'create', data: 1 }, { path: '/v1.0/bindings/nobody' }),
  invoke({ operation: 'create', data: { specversion: '1.0' } }, { ownWords: true }),
  invoke({ operation: 'create', data: {}, metadata: { type: 1 } }, { ownWords: true }),
  invoke('{', { ownWords: true }),
  invoke('', { ownWords: true }),
  invoke({ operation: 'create', data: 'x'.repeat(4 * 1024 * 1024 + 1) }, { ownWords: true }),
  { method: 'GET', path: '/v1.0/healthz' },
  { method: 'GET', path: '/v1.0/healthz?appid=shop' },
  { method: 'GET', path: '/v1.0/healthz?appid=other' },
  { method: 'GET', path: '/v1.0/healthz/outbound' },
]

/** What a request is answered, and what reaches the topic. */
async function outcomeOf(base: string, { method, path, body, ownWords }: ApiRequest, emulator: EventGridEmulator) {
  const before = emulator.records.requests.length
  // Who refuses a body that is too long may close the connection before the answer is read.
  const answer = await eventually(() => fetch(`${base}${path}`, { method, ...(body !== undefined && { body }) }))
  const text = await answer.text()
  const published = emulator.records.requests.all().slice(before)
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    ids: answer.headers.get('metadata.ids')?.replace(/[\da-f-]{36}/, 'an id'),
    count: answer.headers.get('metadata.count'),
    text: ownWords ? JSON.parse(text).errorCode : text,
    published: published.filter(({ route }) => route === 'topic').map((request) => withoutTime(request.body)),
  }
}

const withoutTime = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body), (key, value) => (key === 'time' ? undefined : value))

withDaprd('eventgrid-binding run answers as daprd does, and publishes the same', async () => {
  const app = await openDaprApp()
  const { daprd, emulator, subscribed } = await openOrders({ daprd: { appPort: app.port } })
  await daprd.ready()
  await subscribed()
  const folder = makeComponentFolder()
  writeSecretStore(folder, emulator, ['orders'])
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort: '0', fields: { direction: 'output' } }))
  const args = ['--components', folder.path, '--app-id', 'shop', '--app-port', String(app.port), '--http-port', '0']
  const host = startCommand(['run', ...args], emulatorVariables(emulator, folder.path))
  const [, api = ''] = await host.line(/ ready: .*url=(http\S+)\/v1\.0/)
  await host.line(/ info {2}the application is up/)
  for (const request of requests) {
    const theirs = await outcomeOf(`http://127.0.0.1:${daprd.httpPort}`, request, emulator)
    const ours = await outcomeOf(api, request, emulator)
    expect(ours, `${request.method} ${request.path} ${request.body?.slice(0, 100)}`).toEqual(theirs)
  }
})
