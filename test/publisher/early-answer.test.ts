import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { listen } from '../support/listen.ts'
import { refusal } from '../support/refusal.ts'
import { openPublisher } from './open-publisher.ts'
import { event } from './scripted-topic.ts'

/** A topic that answers at the first byte and reads no further, as front ends do with what is too large for them. */
async function startImpatientTopic(answer: string) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.pause()
      socket.end(answer)
    })
  })
  return `http://127.0.0.1:${await listen(server)}`
}

it.each([
  { status: 413, code: 'PAYLOAD_TOO_LARGE' },
  { status: 401, code: 'CREDENTIALS_REJECTED' },
  { status: 101, code: 'PUBLISH_REJECTED' },
])('an answer of $status is heard though the events are not sent to the end', async ({ status, code }) => {
  const origin = await startImpatientTopic(`HTTP/1.1 ${status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
  const { publisher } = openPublisher(origin)
  const error = await refusal(publisher.publish(event('1', { data: 'x'.repeat(1_000_000) })))
  expect(error.code).toBe(code)
})

it.each(['connection: upgrade\r\nupgrade: websocket', 'connection: close', 'content-length: 0'])(
  'an answer of 101 with %s is the answer: nothing is sent again',
  async (headers) => {
    const origin = await startImpatientTopic(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n\r\n`)
    const { publisher } = openPublisher(origin, { output: { publishTimeoutMs: 5_000 } })
    const error = await refusal(publisher.publish(event('1')))
    expect(error).toMatchObject({ code: 'PUBLISH_REJECTED', details: { status: 101, attempts: 1 } })
    expect(error.message).toContain('answered 101, where Event Grid answers 200')
  },
)
