import { connect } from 'node:net'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { expect, it, onTestFinished } from 'vitest'
import { createGate, event, ids, startHeldTopic, startTopic } from '../../../publisher/scripted-topic.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { daprService } from '../../../support/dapr-protos.ts'
import { openApis } from './open-api.ts'

interface Door {
  readonly name: string
  /** Publishes an event. `leave` ends the wait of the caller. */
  readonly open: (apis: Awaited<ReturnType<typeof openApis>>) => Promise<(id: string) => Caller>
}

interface Caller {
  leave(): void
  readonly ended: Promise<unknown>
}

const create = (id: string) => JSON.stringify({ operation: 'create', data: event(id) })

function rawCreate(id: string): string {
  const body = create(id)
  return `POST /v1.0/bindings/orders HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

async function openGrpc({ grpc }: Awaited<ReturnType<typeof openApis>>) {
  const method = daprService('Dapr').InvokeBinding
  if (!method) throw new Error('there is no InvokeBinding')
  const port = await grpc.listen({ host: '127.0.0.1', port: 0 })
  return (id: string) => {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
    onTestFinished(() => client.close())
    const { promise: ended, resolve } = Promise.withResolvers<unknown>()
    const request = { name: 'orders', operation: 'create', data: Buffer.from(JSON.stringify(event(id))), metadata: {} }
    const { path, requestSerialize, responseDeserialize } = method
    const call = client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, new Metadata(), resolve)
    return { client, call, ended }
  }
}

const doors: readonly Door[] = [
  {
    name: 'an HTTP request that is aborted',
    async open({ http }) {
      const url = `${await http.listen({ host: '127.0.0.1', port: 0 })}/v1.0/bindings/orders`
      return (id) => {
        const gone = new AbortController()
        const ended = fetch(url, { method: 'POST', body: create(id), signal: gone.signal }).catch(() => {})
        return { leave: () => gone.abort(), ended }
      }
    },
  },
  {
    name: 'an HTTP connection that is reset',
    async open({ http }) {
      const { port } = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
      return (id) => {
        const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
        socket.write(rawCreate(id))
        const ended = new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
        onTestFinished(() => void socket.destroy())
        return { leave: () => void socket.resetAndDestroy(), ended }
      }
    },
  },
  {
    name: 'a gRPC call that is cancelled',
    async open(apis) {
      const invoke = await openGrpc(apis)
      return (id) => {
        const { call, ended } = invoke(id)
        return { leave: () => call.cancel(), ended }
      }
    },
  },
  {
    name: 'a gRPC connection that ends',
    async open(apis) {
      const invoke = await openGrpc(apis)
      return (id) => {
        const { client, call, ended } = invoke(id)
        const leave = () => {
          client.close()
          call.cancel()
        }
        return { leave, ended }
      }
    },
  },
]

it.each(doors)('run sends nothing more for $name', async ({ open }) => {
  const gate = createGate()
  const topic = await startTopic(({ index }) =>
    index === 0 ? { hold: gate.hold, afterwards: { status: 503 } } : { status: 200 },
  )
  const log = captureLog()
  const call = await open(await openApis({}, { httpEndpoint: topic.endpoint, key: 'a-key' }, log))
  const sent = call('sent')
  await topic.arrived(1)
  const other = call('other')
  sent.leave()
  await expect.poll(() => log.text()).toContain('"code":"ABORTED"')
  gate.open()
  await other.ended
  await sent.ended
  expect(topic.requests.map(({ events }) => ids(events))).toEqual([['sent'], ['other']])
})

it('run sends nothing more for an HTTP request behind others on a connection that is reset, and warns of nothing', async () => {
  const warnings: string[] = []
  const warned = ({ name }: Error) => void warnings.push(name)
  process.on('warning', warned)
  onTestFinished(() => void process.off('warning', warned))
  const { topic, open } = await startHeldTopic()
  const log = captureLog()
  const { http } = await openApis({}, { httpEndpoint: topic.endpoint, key: 'a-key' }, log)
  const url = new URL(await http.listen({ host: '127.0.0.1', port: 0 }))
  const socket = connect(Number(url.port), url.hostname).on('error', () => {})
  socket.write(Array.from({ length: 20 }, (_, index) => rawCreate(`${index}`)).join(''))
  await topic.arrived(1)
  socket.resetAndDestroy()
  await expect.poll(() => log.text()).toContain('"code":"ABORTED"')
  const other = fetch(`${url}v1.0/bindings/orders`, { method: 'POST', body: create('other') })
  open()
  expect((await other).status).toBe(200)
  expect(topic.requests.map(({ events }) => ids(events))).toEqual([['0'], ['other']])
  expect(warnings).toEqual([])
})
