// The load, in a process of its own: requests over kept-alive connections, as fast as answers come, or at a steady rate
// whatever the answers do.
import { connect } from 'node:net'
import { createHistogram } from 'node:perf_hooks'
import { answerLines, say } from '../servers/json-lines.ts'
import { createAnswerReader } from './http-answers.ts'

/** Where requests go. */
export interface LoadTarget {
  readonly port: number
  /** @default '/api/events' */
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
}

/** What the generator is asked to do. */
export interface LoadOrder {
  /** Connections are spread over them. */
  readonly targets: readonly LoadTarget[]
  readonly body: string
  readonly connections: number
  readonly ms: number
  /**
   * Requests a second, begun on time though earlier ones are not answered (an open loop). Absent: the next one when the last
   * is answered (a closed loop).
   */
  readonly rate?: number
  /**
   * A closed loop that never sleeps: each answer would wake a sleeping load, and the system charges the server for that. The
   * slower a server, the more its load sleeps, so it would seem slower than it is. For a load that has its core for itself.
   * @default false
   */
  readonly awake?: boolean
}

/** What came of it. Latencies are milliseconds, with a rate from the moment at which the request was due. */
export interface LoadResult {
  readonly answers: number
  readonly ms: number
  readonly percentiles: Readonly<Record<string, number>>
}

const shownPercentiles = [1, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99]
/** Longest wait for the answers to the last requests: a server that can't keep pace has all of them to work off. */
const lastAnswersMs = 60_000

interface Connection {
  send(dueAt: number): void
  close(): void
}

interface Sink {
  /** An answer to the request that was due then. */
  answered(connection: Connection, dueAt: number): void
  failed(error: Error): void
}

function open({ port, path = '/api/events', headers }: LoadTarget, body: string, sink: Sink): Promise<Connection> {
  const head = Object.entries({ ...headers, host: 'localhost', 'content-length': String(Buffer.byteLength(body)) })
  const request = Buffer.from(
    `POST ${path} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let dueAt = 0
    const connection: Connection = {
      send(due) {
        dueAt = due
        socket.write(request)
      },
      close: () => socket.destroy(),
    }
    const read = createAnswerReader((status) => {
      if (status === 200 || status === 204) sink.answered(connection, dueAt)
      else sink.failed(new Error(`a delivery was answered ${status}`))
    })
    socket.on('data', read)
    socket.once('connect', () => resolve(connection))
    socket.on('error', (error) => {
      reject(error)
      sink.failed(error)
    })
    socket.on('end', () => sink.failed(new Error('the server has closed a connection')))
  })
}

async function run({ targets, body, connections, ms, rate, awake }: LoadOrder): Promise<LoadResult> {
  const histogram = createHistogram({ lowest: 1, highest: 3_600_000_000_000, figures: 3 })
  const { promise: finished, resolve: finish, reject: fail } = Promise.withResolvers<void>()
  finished.catch(() => {})
  let answers = 0
  let sent = 0
  let running = false
  let started = 0
  let lastAt = 0
  const idle: Connection[] = []
  /** When the requests were due that no connection is free for; read from `next` on. */
  const late: number[] = []
  let next = 0

  const send = (connection: Connection, dueAt: number) => {
    sent++
    connection.send(dueAt)
  }
  const sink: Sink = {
    failed: fail,
    answered(connection, dueAt) {
      const now = performance.now()
      lastAt = now
      answers++
      histogram.record(Math.max(1, Math.round((now - dueAt) * 1e6)))
      if (rate === undefined) {
        if (running) send(connection, now)
      } else if (next < late.length) send(connection, late[next++] ?? now)
      else idle.push(connection)
      if (!running && answers === sent && next === late.length) finish()
    },
  }
  for (let index = 0; index < connections; index++) {
    const target = targets[index % targets.length]
    if (target) idle.push(await open(target, body, sink))
  }
  const all = [...idle]
  running = true
  started = performance.now()
  if (rate === undefined) {
    for (const connection of idle.splice(0)) send(connection, performance.now())
    await (awake ? stayAwake() : new Promise((resolve) => setTimeout(resolve, ms)))
  } else await keepPace(rate)
  running = false
  const timer = setTimeout(() => fail(new Error('the last answers did not come')), lastAnswersMs)
  if (answers === sent && next === late.length) finish()
  try {
    await finished
  } finally {
    clearTimeout(timer)
    for (const connection of all) connection.close()
  }
  return { answers, ms: lastAt - started, percentiles: percentilesOf() }

  /** Looks at the clock all the time. */
  function stayAwake(): Promise<void> {
    return new Promise((resolve) => {
      const tick = () => void (performance.now() - started < ms ? setImmediate(tick) : resolve())
      tick()
    })
  }

  /** Sends on time to a fraction of a millisecond: a timer would wake up once a millisecond only, so it looks at the clock all the time. */
  function keepPace(perSecond: number): Promise<void> {
    const total = Math.floor((ms / 1000) * perSecond)
    let begun = 0
    return new Promise((resolve) => {
      const tick = () => {
        const now = performance.now()
        for (; begun < total; begun++) {
          const dueAt = started + (begun / perSecond) * 1000
          if (dueAt > now) break
          // The one that waits longest: a connection that is never used would be closed by the server.
          const connection = idle.shift()
          if (connection) send(connection, dueAt)
          else late.push(dueAt)
        }
        if (begun < total) setImmediate(tick)
        else resolve()
      }
      tick()
    })
  }

  function percentilesOf(): Record<string, number> {
    return Object.fromEntries(shownPercentiles.map((one) => [one, histogram.percentile(one) / 1e6]))
  }
}

/** Several loads at the same time. */
export interface JointOrder {
  readonly together: readonly LoadOrder[]
}

say({})
await answerLines((order: LoadOrder | JointOrder) =>
  'together' in order ? Promise.all(order.together.map((one) => run(one))) : run(order),
)
