/** How one port serves https and http. */
import { createServer, type Server, type Socket } from 'node:net'

/** The first byte of a TLS handshake. No HTTP request begins with it. */
const tlsHandshake = 0x16

/** One port for two servers, which do not listen themselves or elsewhere. */
export const createTwoServers = (https: Server, http: Server): Server =>
  createServer((socket) => handOver(socket, https, http))

/** Waits for the first byte, which tells https from http. */
function handOver(socket: Socket, https: Server, http: Server): void {
  socket.on('error', () => socket.destroy())
  socket.setTimeout(30_000, () => socket.destroy())
  socket.once('readable', () => {
    const start: Buffer | null = socket.read()
    if (start === null) return void socket.destroy()
    socket.setTimeout(0)
    socket.removeAllListeners('timeout')
    socket.unshift(start)
    const server = start[0] === tlsHandshake ? https : http
    server.emit('connection', socket)
  })
}

export function portOf(server: Pick<Server, 'address'>): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
