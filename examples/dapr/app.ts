/**
 * The application: it confirms each order that is placed. `node examples/dapr/app.ts APP_PORT DAPR_HTTP_PORT`
 *
 * It knows daprd and nothing of Event Grid.
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

const [appPort, daprPort] = process.argv.slice(2)

const server = createServer(async (request, response) => {
  // daprd asks once whether we want the events of the binding "orders".
  if (request.url !== '/orders') return void response.writeHead(404).end()
  if (request.method === 'OPTIONS') return void response.writeHead(200).end()
  const event = Object(await json(request))
  console.log(`got ${event.type} ${event.id}`)
  // 2xx acknowledges the event; with anything else it comes again.
  response.writeHead(event.type === 'order.placed' ? await confirm(event) : 200).end()
})
server.listen(Number(appPort), '127.0.0.1', () => console.log('ready'))

async function confirm(event: { id: string; data: unknown }): Promise<number> {
  const { ok } = await fetch(`http://127.0.0.1:${daprPort}/v1.0/bindings/orders`, {
    method: 'POST',
    body: JSON.stringify({
      operation: 'create',
      data: event.data,
      metadata: { type: 'order.confirmed', id: `confirmed-${event.id}` },
    }),
  })
  return ok ? 200 : 500
}
