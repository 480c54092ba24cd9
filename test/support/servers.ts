import { createServer } from 'node:http'
import { listen } from './listen.ts'
import { answer, openIngress } from './public-ingress.ts'

/** An http server that answers everything with one status, as an ingress without a working backend does. Its base URL. */
export async function answering(status: number): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end())
  return `http://127.0.0.1:${await listen(server)}`
}

/** An https server whose certificate nobody has signed but itself. Its base URL. */
export async function selfSigned(): Promise<string> {
  const { url, route } = await openIngress()
  route(() => answer(200))
  return new URL(url).origin
}
