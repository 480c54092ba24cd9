/**
 * Nothing that Event Grid accepted is lost, whatever breaks: `npm run test:faults`.
 *
 * FAULT_EVENTS: events in all, at least; 100000 is the long form. FAULT_SEED replays a run.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type Account,
  type FaultWorld,
  type FaultWorldOptions,
  type LedgerMode,
  openFaultWorld,
} from './fault-world.ts'
import { seededRandom } from './seeded-random.ts'

const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))
const wanted = Number(process.env.FAULT_EVENTS ?? 5_000)

interface Fault extends FaultWorldOptions {
  /** What breaks, with at least 50 handlers under way. Those are released afterwards. */
  readonly strike: (world: FaultWorld, random: () => number) => Promise<void> | void
  /** How the application is after the fault. @default all handlers succeed */
  readonly after?: LedgerMode
  /** Events a round. @default a tenth of the fault's share, 200 at least */
  readonly events?: number
  /** Memory that the host must never exceed, in bytes. */
  readonly peakMemory?: number
}

const kill = async ({ host, held }: FaultWorld, signal: 'SIGKILL' | 'SIGTERM') => {
  host().process.kill(signal)
  await host().exited
  await held({ most: 0 })
}

const killed: Fault = {
  strike: async (world) => {
    await kill(world, 'SIGKILL')
    await world.startHost()
  },
}

const disconnected: Fault = { strike: ({ network }) => network.reset() }

const faults: Readonly<Record<string, Fault>> = {
  'kill -9 of the host': killed,
  'SIGTERM of the host': {
    strike: async (world) => {
      const { process, exited } = world.host()
      process.kill('SIGTERM')
      await world.ledger({})
      expect(await exited).toEqual([0, null])
      await world.startHost()
    },
  },
  'every connection reset': disconnected,
  'every connection half-open': { strike: ({ network }) => network.freeze(), speed: 20 },
  'every connection slow': { strike: ({ network }) => network.slow() },
  'handlers that outlast every time-out': {
    metadata: { handlerTimeout: '1s' },
    strike: async ({ emulator }) => {
      const earlier = new Set(emulator.records.deliveries)
      await emulator.records.deliveries.waitFor((record) => !earlier.has(record) && record.status === 503)
    },
  },
  'one handler in five failing': { strike: () => {}, after: { fail: 0.2 } },
  'one handler in ten hanging': { strike: () => {}, after: { hang: 0.1 }, metadata: { handlerTimeout: '1s' } },
  'the port lost to a stranger': {
    strike: async (world) => {
      const port = Number(world.host().said)
      await kill(world, 'SIGKILL')
      const stranger = createServer((socket) => {
        socket
          .on('error', () => {})
          .resume()
          .end('HTTP/1.1 500 No\r\n\r\n')
      })
      stranger.listen(port, '::')
      await once(stranger, 'listening')
      const { said, exited } = await world.startHost()
      expect([said, await exited]).toEqual(['PORT_UNAVAILABLE', [1, null]])
      await new Promise((closed) => stranger.close(closed))
      await world.startHost()
    },
  },
  'bodies of 700 kB': { size: 700_000, strike: () => {}, events: 120, peakMemory: 768 * 2 ** 20 },
  'the clock jumping an hour': { strike: ({ host }) => void host().process.kill('SIGUSR2') },
  'token expiry and key rotation': {
    metadata: { deliveryAuthentication: 'entra' },
    strike: async ({ emulator }) => {
      emulator.expireTokens()
      await emulator.rotateKeys()
    },
  },
  'ARM down at a start': {
    strike: async (world) => {
      world.emulator.failNext({ route: 'arm', status: 503, times: 1_000_000 })
      await kill(world, 'SIGKILL')
      await world.startHost()
    },
  },
}

const names = Object.keys(faults)
const mostRounds = 10
const startedAt = performance.now()
const rows: (Account & {
  readonly fault: string
  readonly rounds: number
  readonly recoveryMs: number
  readonly peakMemory: number
})[] = []

/** Breaks something in the middle of things, again and again. */
async function run(name: string, fault: Fault, random: () => number): Promise<Account> {
  const share = wanted / names.length
  const { strike, after = {}, events = Math.max(200, Math.ceil(share / mostRounds)) } = fault
  const world = await openFaultWorld(seed, onTestFinished, fault)
  const rounds = Math.min(mostRounds, Math.max(2, Math.ceil(share / events)))
  const recoveries: number[] = []
  for (let round = 0; round < rounds; round++) {
    await world.ledger({ hold: true })
    await world.publish(events)
    await world.held({ least: 50 + Math.floor(random() * 10) })
    const began = performance.now()
    await strike(world, random)
    await world.ledger(after)
    await world.emulator.settled()
    recoveries.push(performance.now() - began)
  }
  const account = await world.account()
  const recoveryMs = recoveries.toSorted((a, b) => a - b)[recoveries.length >> 1] ?? 0
  rows.push({ fault: name, rounds, recoveryMs, peakMemory: world.host().peakMemory(), ...account })
  expect(world.emulator.figures()).toMatchObject({ deadLettered: 0, dropped: 0 })
  if (fault.peakMemory) expect(world.host().peakMemory()).toBeLessThan(fault.peakMemory)
  return account
}

const random = seededRandom(seed)

it.each(Object.entries(faults))('loses nothing: %s', async (name, fault) => {
  expect(await run(name, fault, random)).toMatchObject({ lost: 0 })
})

describe('the suite proves itself', () => {
  it('catches a binding that acknowledges before it handles', async () => {
    const { lost } = await run('(early) kill -9 of the host', { ...killed, honesty: 'early' }, random)
    expect(lost).toBeGreaterThan(0)
  })

  it('catches a binding that knows events by their id alone', async () => {
    const { lost } = await run('(by id) every connection reset', { ...disconnected, honesty: 'byId' }, random)
    expect(lost).toBeGreaterThan(0)
  })
})

afterAll(() => {
  const table = rows.map(({ fault, rounds, accepted, lost, duplicates, recoveryMs, peakMemory }) => ({
    ...{ fault, rounds, events: accepted, lost, duplicates },
    'recovery (ms, median)': Math.round(recoveryMs),
    'peak memory (MiB)': Math.round(peakMemory / 2 ** 20),
  }))
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
  console.log(`commit ${commit}, ${new Date().toISOString().slice(0, 10)}, seed ${seed}, ${minutes} minutes`)
  console.table(table)
})
