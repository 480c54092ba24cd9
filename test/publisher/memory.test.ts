import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it, onTestFinished } from 'vitest'
import { openPublisher } from './open-publisher.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: (options?: { type: 'major' | 'minor' }) => void = runInNewContext('gc')

/** A topic that takes everything and keeps nothing. */
async function startForgetfulTopic(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  // A TCP server's address is an object; only a pipe's is text.
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}/api/events`
}

// What only a major collection finds makes pauses: it is copied twice before.
it.each(['major', 'minor'] as const)('keeps nothing of what was published beyond a %s collection', async (type) => {
  const { publisher } = openPublisher(await startForgetfulTopic())
  const publish = async (id: number) => {
    const data = String(id).padEnd(100_000, 'x')
    await publisher.publish(JSON.stringify({ specversion: '1.0', id: String(id), source: '/s', type: 't', data }))
  }
  const publishTenMegabytes = async () => {
    await publish(0)
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (let id = 1; id <= 100; id++) {
      await publish(id)
      collectGarbage({ type: 'minor' })
    }
    collectGarbage({ type })
    return process.memoryUsage().heapUsed - before
  }
  // A single round may have the bad luck that an old object, dead already, holds young ones; a publisher that keeps bodies does so in each.
  const kept = [await publishTenMegabytes(), await publishTenMegabytes(), await publishTenMegabytes()]
  expect(Math.min(...kept)).toBeLessThan(3_000_000)
})

it('keeps nothing of the requests themselves', async () => {
  const { publisher } = openPublisher(await startForgetfulTopic())
  const publish = async (times: number) => {
    for (let id = 0; id < times; id++) {
      await publisher.publish(JSON.stringify({ specversion: '1.0', id: String(id), source: '/s', type: 't' }))
    }
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const before = await publish(1_000)
  expect((await publish(3_000)) - before).toBeLessThan(1_500_000)
})
