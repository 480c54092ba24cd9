/** Closes a server in bounded time, whatever its connections do. */
import type { Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Server, Socket } from 'node:net'

export type ClosableServer = ReturnType<typeof closable>

export interface ClosableOptions {
  /**
   * Called for a connection that the system could not hand over, with `EMFILE` for instance. The client sees it closed.
   * @default does nothing
   */
  readonly onRefused?: (error: Error) => void
}

const defaultGraceMs = 1_000
const idlePollMs = 50

/**
 * Makes a server end in bounded time, whatever its clients do, and go on after a connection that the system could not hand
 * over, which would end the process otherwise. Call it before the server listens. Node alone waits for ever: closing a
 * server also stops the time limits of its connections, and an HTTP server does not know connections
 * that were upgraded or are still before their TLS handshake.
 */
export function closable(server: Server | HttpServer | HttpsServer, { onRefused = () => {} }: ClosableOptions = {}) {
  const sockets = new Set<Socket>()
  let isOver = false
  let polling: NodeJS.Timeout | undefined
  server.on('error', (error) => {
    // The promise `listening` rejects with the error of a server that can't listen.
    if (server.listening) onRefused(error)
  })
  server.on('connection', (socket: Socket) => {
    if (isOver) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  function closeIdle(): void {
    if ('closeIdleConnections' in server) server.closeIdleConnections()
  }

  /** Closes connections as they become idle, which each does when its last answer is written. Node would keep it for `keepAliveTimeout`. */
  function keepClosingIdle(): void {
    closeIdle()
    polling ??= setInterval(closeIdle, idlePollMs).unref()
    server.once('close', () => clearInterval(polling))
  }

  function endConnections(graceMs = defaultGraceMs): void {
    keepClosingIdle()
    const endAll = () => {
      clearInterval(polling)
      isOver = true
      for (const socket of sockets) socket.destroy()
    }
    if (graceMs === 0) {
      endAll()
      return
    }
    const timer = setTimeout(endAll, graceMs).unref()
    server.once('close', () => clearTimeout(timer))
  }

  return {
    /** Frees the port at once. Connections may finish the request that they have, without a limit of time: `endConnections` sets one. */
    stopAccepting(): void {
      server.close()
      keepClosingIdle()
    },
    /** Ends the connections as `close` does, for a framework that closes the server itself at the same time. */
    endConnections,
    connections: () => sockets.size,
    /**
     * Frees the port and closes idle connections; the others may finish within a grace period, then they are cut off.
     * Resolves when all are closed. Works for a server that does not listen, too.
     *
     * @param graceMs milliseconds. @default 1_000
     */
    async close(graceMs?: number) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      endConnections(graceMs)
      await closed
    },
  }
}
