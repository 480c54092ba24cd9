// Azure, as far as the peers need it: the emulator, with a rehearsal that shows what Event Grid sends to a subscriber.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventGridEmulator } from 'eventgrid-binding/emulator'
import { answerLines, say, setup } from './json-lines.ts'

/** What it says when it is up. */
export interface EmulatorReady {
  readonly endpoints: EventGridEmulator['endpoints']
  readonly proxy: string
  readonly tenantId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly subscriptionId: string
  /** Resource id by name. */
  readonly topics: Readonly<Record<string, string>>
}

/**
 * Raises one event at a topic, once the hosts have taken their handshakes, and tells with which headers it is delivered, by
 * the host that it is sent to; the subscribers don't get it.
 */
export interface Rehearsal {
  readonly topicId: string
  readonly hosts: readonly string[]
}

const { topics } = setup<{ topics: readonly string[] }>()
const rehearsed = new Map<string, (headers: IncomingHttpHeaders) => void>()

const stage = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200).end()
    rehearsed.get(request.url?.slice(1) ?? '')?.(request.headers)
  })
})
await new Promise<void>((resolve) => stage.listen(0, '127.0.0.1', resolve))
// A server that listens on TCP has an address of this kind.
const { port: stagePort } = stage.address() as AddressInfo

const emulator = await EventGridEmulator.start({
  topics: topics.map((name) => ({ name })),
  // The Go binding logs a line for each delivery with a token of the older version, which would slow it down.
  deliveryTokenVersion: '2.0',
  ingress: ({ hostname, pathname }) =>
    rehearsed.has(hostname)
      ? `http://127.0.0.1:${stagePort}/${hostname}`
      : `http://127.0.0.1:${/^port-(\d+)\./.exec(hostname)?.[1]}${pathname}`,
})
const { endpoints, proxy, tenantId, clientId, clientSecret, subscriptionId } = emulator
const ready: EmulatorReady = {
  endpoints,
  proxy,
  tenantId,
  clientId,
  clientSecret,
  subscriptionId,
  topics: Object.fromEntries(emulator.topics().map(({ name, id }) => [name, id])),
}
say(ready)

await answerLines(async ({ topicId, hosts }: Rehearsal) => {
  const standing = (host: string) =>
    emulator.records.handshakes.waitFor(({ outcome, url }) => outcome === 'validated' && url.includes(`//${host}/`))
  await Promise.all(hosts.map(standing))
  await emulator.idle()
  const arrivals = hosts.map((host) => {
    const { promise, resolve } = Promise.withResolvers<[string, IncomingHttpHeaders]>()
    rehearsed.set(host, (headers) => resolve([host, headers]))
    return promise
  })
  emulator.raise(topicId, [{ specversion: '1.0', id: 'rehearsal', source: '/bench', type: 'Rehearsal' }])
  const all = await Promise.all(arrivals)
  rehearsed.clear()
  return Object.fromEntries(all)
})
