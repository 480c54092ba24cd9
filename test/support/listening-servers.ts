import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Server } from 'node:net'

/** The servers that begin to listen while `work` is under way, and what it resolves to. */
export async function listeningServers<T>(work: () => Promise<T>): Promise<{ result: T; servers: readonly Server[] }> {
  const channel = 'tracing:net.server.listen:asyncStart'
  const servers: Server[] = []
  const listening = (message: unknown) => {
    if (message instanceof Object && 'server' in message && message.server instanceof Server)
      servers.push(message.server)
  }
  subscribe(channel, listening)
  try {
    return { result: await work(), servers }
  } finally {
    unsubscribe(channel, listening)
  }
}

/** Each server fails to accept two connections. Throws where nobody listens for that, which would end the process. */
export function failToAccept(servers: readonly Server[]): void {
  const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  for (const server of [...servers, ...servers]) server.emit('error', error)
}
