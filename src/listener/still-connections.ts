import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** What was known of a connection when it was looked at. */
interface Sighting {
  /** Bytes in both directions since it was opened. */
  readonly bytes: number
  /** Milliseconds, by `performance.now`: since then no byte has moved. */
  readonly since: number
}

/**
 * Closes each connection on which no byte moves for `timeoutMs`: a quarter of it later at most, or after about three times as long where
 * the other side leaves an answer unread. Node's own time-out of a connection starts anew with each read and each write, which takes 2 %
 * of the time of a delivery. Like Node, this leaves alone what the host upgraded, to a WebSocket for instance. Call it before the server
 * listens.
 */
export function closeStillConnections(server: Server, timeoutMs: number): void {
  const sightings = new Map<Socket, Sighting>()
  server.on('connection', (socket: Socket) => {
    sightings.set(socket, { bytes: 0, since: performance.now() })
    socket.once('close', () => sightings.delete(socket))
  })
  const look = () => {
    const now = performance.now()
    for (const [socket, { bytes, since }] of sightings) {
      const moved = socket.bytesRead + socket.bytesWritten
      if (moved !== bytes) sightings.set(socket, { bytes: moved, since: now })
      // A time-out of Node's runs: the one below, one between two requests, or one that the host set.
      else if (now - since < timeoutMs || socket.timeout) continue
      else if (socket.writableLength === 0) socket.destroy()
      // A large answer may still be on its way. Only Node sees how much of it the system took, so from here its own time-out decides.
      else socket.setTimeout(timeoutMs)
    }
  }
  server.once('listening', () => {
    for (const event of ['upgrade', 'connect']) {
      // A listener of ours alone would take such requests away from the routes.
      if (server.listenerCount(event) > 0) server.on(event, (_request, socket: Socket) => sightings.delete(socket))
    }
    const timer = setInterval(look, timeoutMs / 4).unref()
    server.once('close', () => clearInterval(timer))
  })
}
