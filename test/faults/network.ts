import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/** Is given what has to be stopped at the end. */
export type OnEnd = (stop: () => void | Promise<void>) => void

/** The wire between Event Grid and the binding, which can be cut in several ways. */
export interface Network {
  readonly port: number
  /** Where connections go from now on. */
  target(port: number): void
  /** Resets every connection. */
  reset(): void
  /** Leaves every connection open and carries nothing over it any more, in either direction. */
  freeze(): void
  /** Carries everything in drips from now on, in either direction and over new connections too. */
  slow(): void
  /** Resets every connection, and each new one until `restore`. */
  cut(): void
  restore(): void
}

const dripBytes = 256
const dripMs = 5

/** Passes on a drip at a time. */
function drip(): Transform {
  return new Transform({
    highWaterMark: dripBytes,
    transform(chunk: Buffer, _encoding, done) {
      let sent = 0
      const timer = setInterval(() => {
        this.push(chunk.subarray(sent, sent + dripBytes))
        sent += dripBytes
        if (sent < chunk.length) return
        clearInterval(timer)
        done()
      }, dripMs)
    },
  })
}

/** Opens one. @param onEnd gets what closes it. */
export async function openNetwork(onEnd: OnEnd): Promise<Network> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let port = 0
  let slow = false
  let isCut = false
  const reset = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy()
  }
  const server = createServer((outside) => {
    if (isCut) return void outside.on('error', () => {}).resetAndDestroy()
    const inside = connect({ port, host: '127.0.0.1' })
    const pair = [outside, inside] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [inside, outside] as const]) {
      if (slow) from.pipe(drip()).pipe(to)
      else from.pipe(to)
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
    reset,
    cut() {
      isCut = true
      reset()
    },
    restore() {
      isCut = false
    },
    freeze: () => {
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause()
    },
    slow: () => {
      if (slow) return
      slow = true
      for (const [outside, inside] of pairs) {
        outside.unpipe().pipe(drip()).pipe(inside)
        inside.unpipe().pipe(drip()).pipe(outside)
      }
    },
  }
}
