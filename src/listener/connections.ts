import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Knows which connections have brought a delivery that proved itself. */
export interface Connections {
  /** The connection is one of Event Grid's. */
  trust(socket: Socket): void
}

/**
 * Bounds the number of connections. The last place is kept free: whoever takes it costs the oldest connection that has proven nothing its own,
 * so that a thousand who only hold connections do not keep Event Grid out. Where all have, those idle between two requests go.
 */
export function boundConnections(server: Server, maxConnections: number, onFull: () => void): Connections {
  const unproven = new Set<Socket>()
  let open = 0
  // Those that have to go are gone a moment later, so that a burst needs some room beside.
  server.maxConnections = Math.ceil(maxConnections * 1.25)
  server.on('connection', (socket) => {
    open++
    unproven.add(socket)
    socket.once('close', () => {
      open--
      unproven.delete(socket)
    })
    if (open < maxConnections) return
    onFull()
    const [oldest] = unproven
    if (oldest === undefined || oldest === socket) server.closeIdleConnections()
    else {
      unproven.delete(oldest)
      oldest.destroy()
    }
  })
  server.on('drop', onFull)
  return { trust: (socket) => void unproven.delete(socket) }
}
