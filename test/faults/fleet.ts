import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type {
  EventGridEmulator,
  EventGridEmulatorOptions,
  Ingress,
  TopicView,
} from '../../packages/emulator/src/index.ts'
import { builtProgram } from '../support/built-program.ts'
import { startEmulator } from '../support/start-emulator.ts'
import type { ReplicaConfiguration, ReplicaMessage } from './replica-process.ts'

const replica = builtProgram(join(import.meta.dirname, 'replica-process.ts'))

/** A replica that listens. */
export interface Replica {
  readonly port: number
  /** Resolves when its `init` has, rejects as that does. */
  readonly ready: Promise<void>
  health(): Promise<{ readonly status: string; readonly reasons: readonly string[] }>
  /** Closes the binding; resolves when the process is gone. */
  stop(): Promise<void>
}

/** Replicas behind one public address, and the ledger of what was accepted and handled. */
export interface Fleet {
  readonly emulator: EventGridEmulator
  readonly topic: TopicView
  /** The fields that every replica has. */
  readonly fields: Readonly<Record<string, string>>
  /** Starts a replica; resolves when it listens, and the public address leads to it. */
  start(changes?: Readonly<Record<string, string>>): Promise<Replica>
  /** Where the public address leads while no replica listens. */
  otherwise(target: string): void
  /** Entra takes the new secret of the client from now on, and the old one no more. */
  renewClientSecret(clientSecret: string): void
  /** Keeps this many events on their way from now on: for each that is handled one more is raised. */
  load(events: number): void
  /** Counts an event as handled that somebody else than a replica has handled. */
  handled(id: string): void
  /** Ends the load and waits until Event Grid has nothing left to deliver; then what became of it all. */
  settle(): Promise<{ readonly raised: number; readonly lost: number; readonly strangers: readonly string[] }>
  /** Resolves once so many more events have been handled. */
  progress(events: number): Promise<void>
}

/** Opens an emulator where changes of an event subscription conflict; the test's end closes it and every replica. */
export async function openFleet(options: EventGridEmulatorOptions = {}): Promise<Fleet> {
  const emulator = await startEmulator({
    conflicts: true,
    operationDelayMs: 50,
    deadLetterDelay: 0,
    // Thirty tries must outlast the start of the replicas one by one.
    retrySchedule: [200, 1_000, 3_000],
    ...options,
  })
  const topic = emulator.topic()
  const { tenantId, subscriptionId, clientId, clientSecret, endpoints } = emulator
  const fields = {
    ...{ tenantId, subscriptionId, clientId, clientSecret, scope: topic.id, handshakePort: '0' },
    ...{ subscriberEndpoint: 'https://fleet.example.com/api/events', eventSubscriptionName: 'fleet' },
  }

  const ports: number[] = []
  let turn = 0
  let elsewhere = 'http://127.0.0.1:1'
  const ingress: Ingress = ({ pathname }) => {
    const port = ports[turn++ % Math.max(ports.length, 1)]
    return `${port === undefined ? elsewhere : `http://127.0.0.1:${port}`}${pathname}`
  }
  emulator.setIngress(ingress)

  const raised = new Set<string>()
  const finished = new Set<string>()
  const strangers: string[] = []
  const waiting = new Set<() => void>()
  let loading = false
  const raise = (count: number) => {
    const events = Array.from({ length: count }, (_, index) => {
      const id = `event-${raised.size + index}`
      return { specversion: '1.0', type: 'load', source: '/fleet', id, data: {} }
    })
    for (const { id } of events) raised.add(id)
    emulator.raise(topic.id, events)
  }
  const handled = (id: string) => {
    if (!raised.has(id)) strangers.push(id)
    else if (!finished.has(id)) {
      finished.add(id)
      if (loading) raise(1)
    }
    for (const look of waiting) look()
  }

  async function start(changes: Readonly<Record<string, string>> = {}): Promise<Replica> {
    const configuration: ReplicaConfiguration = { fields: { ...fields, ...changes }, endpoints }
    const child = fork(replica, [JSON.stringify(configuration)])
    const exited = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await exited
    })
    const listening = Promise.withResolvers<number>()
    const ready = Promise.withResolvers<void>()
    // Whoever starts many awaits them later.
    ready.promise.catch(() => {})
    const told: { health: (of: { status: string; reasons: readonly string[] }) => void } = { health: () => {} }
    child.on('message', (message: ReplicaMessage) => {
      switch (message.is) {
        case 'handled':
          return handled(message.id)
        case 'listening':
          return listening.resolve(message.port)
        case 'ready':
          return ready.resolve()
        case 'health':
          return told.health(message)
        case 'failed':
          listening.reject(new Error(message.why))
          return ready.reject(new Error(message.why))
      }
    })
    const port = await Promise.race([listening.promise, died(child)])
    ports.push(port)
    return {
      port,
      ready: ready.promise,
      health() {
        const { promise, resolve } = Promise.withResolvers<{ status: string; reasons: readonly string[] }>()
        told.health = resolve
        child.send('health')
        return promise
      },
      async stop() {
        ports.splice(ports.indexOf(port), 1)
        child.send('close')
        await exited
      },
    }
  }

  return {
    emulator,
    topic,
    fields,
    start,
    handled,
    otherwise(target) {
      elsewhere = target
    },
    renewClientSecret: (renewed) =>
      emulator.reconfigure({ ingress, clients: [{ clientId, tenantId, clientSecret: renewed }] }),
    load(events) {
      loading = true
      raise(events)
    },
    async settle() {
      loading = false
      await emulator.settled()
      return { raised: raised.size, lost: raised.size - finished.size, strangers }
    },
    progress(events) {
      const goal = finished.size + events
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = () => {
        if (finished.size < goal) return
        waiting.delete(look)
        resolve()
      }
      waiting.add(look)
      look()
      return promise
    },
  }
}

async function died(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit')
  throw new Error(`a replica ended with ${code}`)
}
