import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../src/emulator/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import { builtProgram } from '../support/built-program.ts'
import type { HostConfiguration } from './host-process.ts'
import { type Network, type OnEnd, openNetwork } from './network.ts'

/** How a scenario starts. */
export interface FaultWorldOptions {
  readonly honesty?: HostConfiguration['honesty']
  readonly metadata?: Readonly<Record<string, string>>
  readonly emulator?: EventGridEmulatorOptions
  /** How many times as fast as the machine's the emulator's clock runs, so that its 30-second time-out comes sooner. @default 1 */
  readonly speed?: number
  /** Bytes of data in each event. @default 0 */
  readonly size?: number
}

/** How the ledger treats handlers. */
export interface LedgerMode {
  readonly hold?: boolean
  /** Share of handlers that are told 500. */
  readonly fail?: number
  /** Share of handlers that are never answered. */
  readonly hang?: number
}

/** What became of the events that Event Grid accepted. */
export interface Account {
  readonly accepted: number
  /** Accepted, and no handler finished. */
  readonly lost: number
  /** Handlers that finished beyond the first of an event. */
  readonly duplicates: number
}

/** Event Grid in this process, the host in a second, and the application with its ledger in a third. */
export interface FaultWorld {
  readonly emulator: EventGridEmulator
  readonly network: Network
  /** The host that runs now. */
  host(): Host
  /** Starts a host in place of one that has ended. */
  startHost(): Promise<Host>
  /** Publishes so many events, each accepted by the topic. */
  publish(count: number): Promise<void>
  ledger(mode: LedgerMode): Promise<void>
  /** Resolves once at least, or at most, so many handlers are being held. */
  held(bound: { readonly least: number } | { readonly most: number }): Promise<void>
  account(): Promise<Account>
}

/** A host process. */
export interface Host {
  readonly process: ChildProcess
  /** Its port, or the code of the error that kept it from starting. */
  readonly said: string
  readonly exited: Promise<unknown>
  /** The most memory it ever had, in bytes; NaN where the system does not tell. */
  peakMemory(): number
}

const finishedByKey = z.array(z.tuple([z.string(), z.number()]))

/** The host runs the build, with the flag that the shipped command starts with. */
const hostProgram = builtProgram(`${import.meta.dirname}/host-process.ts`)

/** Starts all three. @param onEnd gets what stops them. */
export async function openFaultWorld(seed: number, onEnd: OnEnd, options: FaultWorldOptions = {}): Promise<FaultWorld> {
  const { honesty = 'honest', metadata, speed = 1, size = 0 } = options
  const start = (...args: readonly string[]) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onEnd(() => void child.kill('SIGKILL'))
    return child
  }
  const network = await openNetwork(onEnd)
  const emulator = await EventGridEmulator.start({
    retrySchedule: [50 * speed],
    deadLetterDelay: 0,
    concurrency: 128,
    maxPending: 100_000,
    clock: startAcceleratedClock(speed),
    ...options.emulator,
  })
  onEnd(() => emulator.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${network.port}${pathname}`)
  const ledger = `http://127.0.0.1:${await firstLine(start(`${import.meta.dirname}/ledger-process.ts`))}`
  const { tenantId, subscriptionId, clientId, clientSecret, endpoints } = emulator
  const topic = emulator.topic()
  const perRequest = Math.min(50, Math.floor(1_000_000 / (size + 200)))

  let handshakePort = '0'
  let host: Host | undefined
  const startHost = async (): Promise<Host> => {
    const configuration: HostConfiguration = {
      metadata: {
        ...{ tenantId, subscriptionId, clientId, clientSecret, scope: topic.id, handshakePort },
        ...{ subscriberEndpoint: 'https://faults.example.com', eventSubscriptionName: 'faults' },
        ...metadata,
      },
      endpoints,
      ledger,
      honesty,
    }
    const process = start('--max-semi-space-size=4', hostProgram, JSON.stringify(configuration))
    const exited = once(process, 'exit')
    const said = await firstLine(process)
    if (/^\d+$/.test(said)) {
      handshakePort = said
      network.target(Number(said))
    }
    host = { process, said, exited, peakMemory: () => peakMemory(process) }
    return host
  }
  await startHost()
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()

  const postEvents = async (events: readonly object[]) => {
    const answer = await fetch(topic.httpEndpoint, {
      method: 'POST',
      headers: { 'aeg-sas-key': topic.key, 'content-type': 'application/cloudevents-batch+json' },
      body: JSON.stringify(events),
    })
    if (!answer.ok) throw new Error(`the topic answered ${answer.status}`)
  }

  const accepted = new Set<string>()
  const post = async (path: string) => (await fetch(`${ledger}${path}`, { method: 'POST' })).text()
  return {
    emulator,
    network,
    startHost,
    host() {
      if (!host) throw new Error('no host has been started')
      return host
    },
    async publish(count) {
      const data = 'x'.repeat(size)
      for (let left = count; left > 0; left -= perRequest) {
        const events = Array.from({ length: Math.min(left, perRequest) }, (_, index) => {
          const number = accepted.size + index
          // Two sources share their ids, as they may: only both together name an event.
          return { specversion: '1.0', type: 'load', source: `/source/${number % 2}`, id: `${number >> 1}`, data }
        })
        await postEvents(events)
        for (const { source, id } of events) accepted.add(`${source} ${id}`)
      }
    },
    async ledger({ hold, fail, hang }) {
      await post(
        `/mode?${new URLSearchParams({ ...(hold && { hold: '1' }), fail: `${fail ?? 0}`, hang: `${hang ?? 0}`, seed: `${seed}` })}`,
      )
    },
    async held(bound) {
      await post(`/held?${'least' in bound ? `least=${bound.least}` : `most=${bound.most}`}`)
    },
    async account() {
      const finished = new Map(finishedByKey.parse(JSON.parse(await post('/finished'))))
      const counts = [...accepted].map((key) => finished.get(key) ?? 0)
      return {
        accepted: accepted.size,
        lost: counts.filter((count) => count === 0).length,
        duplicates: counts.reduce((sum, count) => sum + Math.max(count - 1, 0), 0),
      }
    },
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('the process has no output')
  const lines = createInterface({ input: stdout })
  const [line] = await Promise.race([once(lines, 'line'), once(lines, 'close').then(() => ['nothing'])])
  return String(line)
}

function peakMemory({ pid }: ChildProcess): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return Number(kilobytes ?? Number.NaN) * 1024
  } catch {
    return Number.NaN
  }
}
