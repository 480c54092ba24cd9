import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js'

/** Messages that are handed to HTTP/2 before the first of them has left. */
const most = 32

/**
 * A call hands HTTP/2 its next message only when the last one has left, so each of many events that come at once would be a write of its own.
 * This one says earlier that there is room, and HTTP/2 writes together what came meanwhile.
 */
class WriteAheadCall extends ServerInterceptingCall {
  #ahead = 0
  #waiting: (() => void) | undefined

  override sendMessage(message: unknown, room: () => void): void {
    this.#ahead++
    super.sendMessage(message, () => {
      this.#ahead--
      const waiting = this.#waiting
      this.#waiting = undefined
      waiting?.()
    })
    if (this.#ahead < most) room()
    else this.#waiting = room
  }
}

/** Makes streams of messages write ahead. */
export const writeAhead: ServerInterceptor = ({ responseStream }, call) =>
  responseStream ? new WriteAheadCall(call) : new ServerInterceptingCall(call)
