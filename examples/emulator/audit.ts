/**
 * A webhook in a few lines, without the binding: it agrees to the handshake and prints what Event Grid delivers.
 * `npx node examples/emulator/audit.ts [PORT]`; emulator.yaml expects it on port 3000.
 */
import { createServer } from 'node:http'

const server = createServer(async (request, response) => {
  if (request.method === 'OPTIONS') {
    response.setHeader('webhook-allowed-origin', request.headers['webhook-request-origin'] ?? '').end()
    return
  }
  const { type, data } = JSON.parse(Buffer.concat(await request.toArray()).toString())
  console.log(type, data)
  response.end()
})

server.listen(Number(process.argv[2] ?? 3000), '127.0.0.1', () => {
  const address = server.address()
  console.log(`audit listens on port ${typeof address === 'object' ? address?.port : address}`)
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close())
