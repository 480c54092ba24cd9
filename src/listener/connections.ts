import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

/** One connection, and the requests on it that have no answer yet. */
export interface Connection {
  /** It has brought a delivery that proved itself: it is one of Event Grid's. */
  trust(): void
  /** A request has come. */
  begin(request: IncomingMessage): void
  /** Its answer is written. */
  end(request: IncomingMessage): void
  /** Is the answer to a request due that came whole? Whatever is written now would be taken for it. */
  owesAnswer(): boolean
}

/** All connections that are open. */
export interface Connections {
  /** Undefined where it has been closed already. */
  of(socket: Duplex): Connection | undefined
  /** Counts and bounds the connections of a server. */
  watch(server: Server): void
}

/**
 * Bounds the number of connections. The last place is kept free: whoever takes it costs the oldest connection that has proven nothing its own,
 * so that a thousand who only hold connections do not keep Event Grid out. Where all have, those idle between two requests go.
 */
export function createConnections(maxConnections: number, onFull: () => void): Connections {
  const open = new Map<Duplex, Connection>()
  const unproven = new Set<Duplex>()

  return {
    of: (socket) => open.get(socket),
    watch(server) {
      // Those that have to go are gone a moment later, so that a burst needs some room beside.
      server.maxConnections = Math.ceil(maxConnections * 1.25)
      server.on('connection', (socket) => {
        open.set(
          socket,
          createConnection(() => unproven.delete(socket)),
        )
        unproven.add(socket)
        socket.once('close', () => {
          open.delete(socket)
          unproven.delete(socket)
        })
        if (open.size < maxConnections) return
        onFull()
        const [oldest] = unproven
        if (oldest === undefined || oldest === socket) server.closeIdleConnections()
        else {
          unproven.delete(oldest)
          oldest.destroy()
        }
      })
      server.on('drop', onFull)
    },
  }
}

function createConnection(onTrust: () => void): Connection {
  let trusted = false
  let unanswered = 0
  // Let go with its answer: a connection that rests would keep it in memory otherwise, body and all.
  let latest: IncomingMessage | undefined
  return {
    trust() {
      if (trusted) return
      trusted = true
      onTrust()
    },
    begin(request) {
      unanswered++
      latest = request
    },
    end(request) {
      unanswered--
      if (latest === request) latest = undefined
    },
    owesAnswer: () => unanswered > (latest && !latest.complete ? 1 : 0),
  }
}
