// Publisher and subscriber of the benchmark, in a process of their own. `bench/emulator.ts` forks it and says how much to publish.
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What the benchmark tells this process to do. */
export interface Load {
  readonly endpoint: string
  readonly key: string
  readonly events: number
  /** Events in a request. */
  readonly perRequest: number
  /** Of this many events one is for somebody else: the subscription's filter lets it not pass. */
  readonly oneInFiltered: number
}

/** Events published and not delivered yet, at most: nothing may pile up. */
const underWay = 10_000
/** Requests under way at once. */
const publishers = 4

let delivered = 0
let bodies = 0
const waiters = new Set<() => void>()

const subscriber = createServer((incoming, outgoing) => {
  if (incoming.method === 'OPTIONS') {
    outgoing.writeHead(200, { 'webhook-allowed-origin': String(incoming.headers['webhook-request-origin']) }).end()
    return
  }
  let batch = false
  let first = true
  let text = ''
  incoming.setEncoding('utf8')
  incoming.on('data', (chunk: string) => {
    if (first) batch = chunk.startsWith('[')
    first = false
    if (batch) text += chunk
  })
  incoming.on('end', () => {
    outgoing.writeHead(200, { 'content-length': 0 }).end()
    // A batch is counted by its length, as its events are not looked at otherwise.
    const parsed: unknown = batch ? JSON.parse(text) : undefined
    delivered += Array.isArray(parsed) ? parsed.length : 1
    bodies++
    for (const wake of waiters) wake()
  })
})
await new Promise<void>((resolve) => subscriber.listen(0, '127.0.0.1', resolve))
// A server that listens on TCP has an address of this kind.
process.send?.({ port: (subscriber.address() as AddressInfo).port })

const agent = new Agent({ keepAlive: true })

function until(reached: () => boolean): Promise<void> {
  if (reached()) return Promise.resolve()
  return new Promise((resolve) => {
    const wake = () => {
      if (!reached()) return
      waiters.delete(wake)
      resolve()
    }
    waiters.add(wake)
  })
}

function publish({ endpoint, key }: Load, body: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'aeg-sas-key': key,
      'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      'content-length': body.length,
    }
    const sent = request(`${endpoint}?api-version=2018-01-01`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`publishing was answered ${answer.statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function bodyOf(from: number, count: number, oneInFiltered: number): Buffer {
  const events = Array.from({ length: count }, (_, index) => ({
    specversion: '1.0',
    id: `e${from + index}`,
    source: '/orders',
    type: 'Order.Placed',
    subject: `orders/${from + index}`,
    time: '2026-01-05T14:07:09.123Z',
    data: { amount: (from + index) % oneInFiltered === 0 ? 0 : 5, customer: 'c-17', note: 'x'.repeat(200) },
  }))
  return Buffer.from(JSON.stringify(events))
}

async function run(load: Load): Promise<void> {
  delivered = 0
  bodies = 0
  const { events, perRequest, oneInFiltered } = load
  const wanted = events - Math.ceil(events / oneInFiltered)
  let published = 0
  const started = performance.now()
  const publisher = async () => {
    while (published < events) {
      const from = published
      const count = Math.min(perRequest, events - from)
      published += count
      await until(() => from - Math.ceil(from / oneInFiltered) - delivered < underWay)
      await publish(load, bodyOf(from, count, oneInFiltered))
    }
  }
  await Promise.all(Array.from({ length: publishers }, publisher))
  await until(() => delivered >= wanted)
  process.send?.({ ms: performance.now() - started, delivered, wanted, requests: bodies })
}

// Only the benchmark sends messages, and each is a load.
process.on('message', (load) => void run(load as Load))
process.on('disconnect', () => process.exit())
