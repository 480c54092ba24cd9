/** The sockets can't be served; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}
