import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { isRecord } from './is-record.ts'

/** Node publishes each HTTP/2 stream of a server here. Node 20 does not have it: then nothing is released early. */
const channel = 'http2.server.stream.close'

/**
 * Removes the listeners of HTTP/2 streams that are closed, until the returned function is called.
 *
 * V8 frees a stream only when it collects the whole heap, because the stream has a part outside of it. The listeners of
 * grpc-js hold the call with its messages: without them the young generation frees these.
 */
export function releaseClosedStreams(): () => void {
  subscribe(channel, release)
  return () => unsubscribe(channel, release)
}

/** The channel comes early: a stream that still writes ends with its event `close`. */
function release(message: unknown): void {
  if (!isRecord(message) || !(message.stream instanceof EventEmitter)) return
  const { stream } = message
  stream.once('close', () => stream.removeAllListeners())
}
