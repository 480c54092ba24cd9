import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below those that systems give to whoever asks for any port, and to outgoing connections: other tests would be given one
 * while its owner starts. Above 10,080, the last port that `fetch` refuses to call.
 */
const ports = { from: 10_081, to: 32_768 } as const

/** The ports that this process has given away: their programs may not listen on them yet. */
const given = new Set<number>()

/** A port that nobody listens on at the moment, on any address, for a program that takes none that is chosen for it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ports.from, ports.to)
    if (given.has(port)) continue
    given.add(port)
    const server = createServer()
    try {
      await once(server.listen(port), 'listening')
    } catch {
      continue
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
