// A pluggable component that does nothing: `create` answers at once, and a bare node:http server hands each body on to `Read` and answers
// 200 when it is acknowledged. What it needs, every component in Node needs.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server, ServerCredentials, type ServerDuplexStream, type sendUnaryData } from '@grpc/grpc-js'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import { answerLines, say, setup } from './json-lines.ts'

/** What `servers/bare-component.ts` is started with. */
export interface BareSetup {
  readonly socket: string
  /** The file of the gRPC services. */
  readonly proto: string
}

const { socket, proto } = setup<BareSetup>()
const waiting = new Map<string, ServerResponse>()
let read: ServerDuplexStream<{ messageId: string }, object> | undefined
let lastId = 0

const http = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const messageId = String(++lastId)
    waiting.set(messageId, response)
    read?.write({ data: Buffer.concat(chunks), messageId })
  })
})
http.listen(0, '127.0.0.1')
await once(http, 'listening')

const answer = (value: object) => (_call: unknown, callback: sendUnaryData<object>) => callback(null, value)
const all = loadSync(proto)
// The file is ours, and these are the services in it.
const service = (name: string) => all[`dapr.proto.components.v1.${name}`] as ServiceDefinition
const server = new Server()
server.addService(service('InputBinding'), {
  Init: answer({}),
  Ping: answer({}),
  Read(call: NonNullable<typeof read>) {
    read = call
    call.on('data', ({ messageId }) => {
      waiting.get(messageId)?.writeHead(200, { 'content-length': 0 }).end()
      waiting.delete(messageId)
    })
  },
})
server.addService(service('OutputBinding'), {
  Init: answer({}),
  Ping: answer({}),
  ListOperations: answer({ operations: ['create'] }),
  Invoke: answer({}),
})
new ReflectionService(all).addToServer(server)
await new Promise<void>((resolve, reject) => {
  server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => (error ? reject(error) : resolve()))
})
// A server that listens on TCP has an address of this kind.
say({ ports: [(http.address() as AddressInfo).port] })
await answerLines(() => ({}))
