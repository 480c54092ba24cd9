// A namespace over TLS that is as fast as can be: it hands out events, each with a lock token of its own, and counts those that are
// acknowledged. Each event subscription has a queue of its own, empty until an order fills it.
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { cloudEvent } from '../events.ts'
import { answerLines, say } from './json-lines.ts'
import { selfSigned } from './self-signed.ts'

/** What the benchmark asks for. */
export type NamespaceOrder =
  /** Hand out as many events as are asked for, so long; answered by {@link Flow} once all are acknowledged. */
  | { readonly kind: 'flow'; readonly queue: string; readonly ms: number }
  /** So many events, each when the one before it is acknowledged and a receive waits. Answered by `{}`. */
  | { readonly kind: 'singles'; readonly queue: string; readonly events: number }
  /** Answered by {@link QueueFigures}. */
  | { readonly kind: 'figures'; readonly queue: string }

/** Events that were acknowledged, and the milliseconds from the order to the last of them. */
export interface Flow {
  readonly events: number
  readonly ms: number
}

/** A queue, as its receiver keeps it busy. */
export interface QueueFigures {
  /** Receives that wait. */
  readonly waiting: number
  /** Receives since the process began. */
  readonly receives: number
}

/** A receive that waits for events. */
interface Waiting {
  readonly maxEvents: number
  give(events: readonly string[]): void
}

interface Queue {
  isFlowing: boolean
  given: number
  acknowledged: number
  receives: number
  readonly waiting: Set<Waiting>
  /** Told of each change. */
  changed: () => void
}

const { key, cert } = await selfSigned()
const queues = new Map<string, Queue>()

function queueOf(name: string): Queue {
  const made: Queue = { isFlowing: false, given: 0, acknowledged: 0, receives: 0, waiting: new Set(), changed() {} }
  const queue = queues.get(name) ?? made
  queues.set(name, queue)
  return queue
}

const flowing = JSON.stringify(cloudEvent('e-0000000001', 1_024))
const timed = () =>
  JSON.stringify({ ...cloudEvent('e-0000000002', 1_024), type: 'Timed', data: { sent: `${process.hrtime.bigint()}` } })

let tokens = 0
const locked = (event: string) =>
  `{"brokerProperties":{"lockToken":"CiQKIgoQ${1_000_000_000 + tokens++}","deliveryCount":1},"event":${event}}`

function giveFlowing(queue: Queue, { maxEvents, give }: Waiting): void {
  queue.given += maxEvents
  give(Array.from({ length: maxEvents }, () => flowing))
}

const mark = Buffer.from('"CiQK')
function countTokens(body: Buffer): number {
  let count = 0
  for (let at = body.indexOf(mark); at !== -1; at = body.indexOf(mark, at + mark.length)) count++
  return count
}

const server = createServer({ key, cert }, (request, response) => {
  const url = new URL(request.url ?? '/', 'https://localhost')
  const [, name = '', operation] = /eventsubscriptions\/([^:]+):(\w+)$/.exec(url.pathname) ?? []
  const queue = queueOf(name)
  const answer = (body: string) =>
    void response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      .end(body)
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (operation !== 'receive') {
      const body = Buffer.concat(chunks)
      queue.acknowledged += countTokens(body)
      // The tokens stand in the answer as they do in the request.
      answer(`{"failedLockTokens":[],"succeededLockTokens":${body.toString().slice('{"lockTokens":'.length)}`)
      return queue.changed()
    }
    queue.receives++
    const leave = () => {
      clearTimeout(timer)
      queue.waiting.delete(waiting)
    }
    const waiting: Waiting = {
      maxEvents: Number(url.searchParams.get('maxEvents')),
      give(events) {
        leave()
        answer(`{"value":[${events.map(locked).join(',')}]}`)
      },
    }
    const timer = setTimeout(() => waiting.give([]), Number(url.searchParams.get('maxWaitTime')) * 1_000)
    response.once('close', leave)
    if (queue.isFlowing) return giveFlowing(queue, waiting)
    queue.waiting.add(waiting)
    queue.changed()
  })
})
server.listen(0, '127.0.0.1', () => {
  // A server that listens on TCP has an address of this kind.
  const { port } = server.address() as AddressInfo
  say({ endpoint: `https://127.0.0.1:${port}`, ca: cert })
})

/** Resolves when the queue is in such a state. */
function until(queue: Queue, reached: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    queue.changed = () => {
      if (!reached()) return
      queue.changed = () => {}
      resolve()
    }
    queue.changed()
  })
}

async function flow(queue: Queue, ms: number): Promise<Flow> {
  const [began, before] = [performance.now(), queue.acknowledged]
  queue.isFlowing = true
  for (const waiting of [...queue.waiting]) giveFlowing(queue, waiting)
  await new Promise((over) => setTimeout(over, ms))
  queue.isFlowing = false
  await until(queue, () => queue.acknowledged === queue.given)
  return { events: queue.acknowledged - before, ms: performance.now() - began }
}

async function singles(queue: Queue, events: number): Promise<void> {
  for (let sent = 0; sent < events; sent++) {
    await until(queue, () => queue.acknowledged === queue.given && queue.waiting.size > 0)
    // Idle for a moment, as a receiver without events is.
    await new Promise((over) => setTimeout(over, 5))
    const [waiting] = queue.waiting
    queue.given++
    waiting?.give([timed()])
  }
  await until(queue, () => queue.acknowledged === queue.given)
}

await answerLines(async (order: NamespaceOrder) => {
  const queue = queueOf(order.queue)
  if (order.kind === 'flow') return flow(queue, order.ms)
  if (order.kind === 'singles') {
    await singles(queue, order.events)
    return {}
  }
  const figures: QueueFigures = { waiting: queue.waiting.size, receives: queue.receives }
  return figures
})
