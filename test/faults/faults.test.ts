/**
 * Nothing that Event Grid accepted is lost, whatever breaks: `npm run test:faults`.
 *
 * FAULT_EVENTS: events in all, at least; 100000 is the long form. FAULT_SEED replays a run. Pull delivery: pull.test.ts.
 */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createFaultRuns, type Fault, seed, wantedEvents } from './fault-run.ts'
import { type FaultWorld, type FaultWorldOptions, openFaultWorld } from './fault-world.ts'
import { seededRandom } from './seeded-random.ts'

interface PushFault extends FaultWorldOptions, Fault<FaultWorld> {}

const kill = async ({ host, ledger }: FaultWorld, signal: 'SIGKILL' | 'SIGTERM') => {
  host().process.kill(signal)
  await host().exited
  await ledger.held({ most: 0 })
}

const killed: PushFault = {
  strike: async (world) => {
    await kill(world, 'SIGKILL')
    await world.startHost()
  },
}

const disconnected: PushFault = { strike: ({ network }) => network.reset() }

const faults: Readonly<Record<string, PushFault>> = {
  'kill -9 of the host': killed,
  'SIGTERM of the host': {
    strike: async (world) => {
      const { process, exited } = world.host()
      process.kill('SIGTERM')
      await world.ledger.mode({})
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
  // The process handles 24 MiB of events at a time: 35 of these.
  'bodies of 700 kB': { size: 700_000, underWay: 25, strike: () => {}, events: 120, peakMemory: 768 * 2 ** 20 },
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

const random = seededRandom(seed)
const runs = createFaultRuns<FaultWorld>(wantedEvents / Object.keys(faults).length, random)
afterAll(runs.print)

const run = async (name: string, fault: PushFault) =>
  runs.run(name, fault, await openFaultWorld(seed, onTestFinished, fault))

it.each(Object.entries(faults))('loses nothing: %s', async (name, fault) => {
  expect(await run(name, fault)).toMatchObject({ lost: 0 })
})

describe('the suite proves itself', () => {
  it('catches a binding that acknowledges before it handles', async () => {
    const { lost } = await run('(early) kill -9 of the host', { ...killed, honesty: 'early' })
    expect(lost).toBeGreaterThan(0)
  })

  it('catches a binding that knows events by their id alone', async () => {
    const { lost } = await run('(by id) every connection reset', { ...disconnected, honesty: 'byId' })
    expect(lost).toBeGreaterThan(0)
  })
})
