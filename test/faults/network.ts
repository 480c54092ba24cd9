import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** Is given what has to be stopped at the end. */
export type OnEnd = (stop: () => void | Promise<void>) => void

/** The wire between Event Grid and the listener, which can be cut in several ways. */
export interface Network {
  readonly port: number
  /** Where connections go from now on. */
  target(port: number): void
  /** Resets every connection. */
  reset(): void
  /** Leaves every connection open and carries nothing over it any more, in either direction. */
  freeze(): void
}

/** Opens one. @param onEnd gets what closes it. */
export async function openNetwork(onEnd: OnEnd): Promise<Network> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let port = 0
  const server = createServer((outside) => {
    const inside = connect({ port, host: '127.0.0.1' })
    const pair = [outside, inside] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [inside, outside] as const]) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onEnd(() => {
    server.close()
    for (const pair of pairs) for (const socket of pair) socket.destroy()
  })
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the network has no port')
  return {
    port: address.port,
    target: (to) => {
      port = to
    },
    reset: () => {
      for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
    },
    freeze: () => {
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
  }
}
