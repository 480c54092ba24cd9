/**
 * Pull delivery loses nothing that the namespace topic accepted, whatever breaks: `npm run test:faults`.
 *
 * FAULT_EVENTS: events in all, at least; 100000 is the long form. FAULT_SEED replays a run.
 */
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createFaultRuns, type Fault, seed, wantedEvents } from './fault-run.ts'
import { openPullWorld, type PullWorld, type PullWorldOptions } from './pull-world.ts'
import { seededRandom } from './seeded-random.ts'

interface PullFault extends PullWorldOptions, Fault<PullWorld> {
  /** An event may be handled twice: its lock went to another replica, or its handler finished after `handlerTimeout`. */
  readonly mayRepeat?: true
}

/** A little longer than a lock lasts. */
const lockMs = 65_000
const minuteMs = 60_000

const isSettlement = ({ url }: { readonly url: string }) => /:(acknowledge|release|reject)\?/.test(url)
const isRenewal = ({ url }: { readonly url: string }) => url.includes(':renewLock')

const killed: PullFault = {
  strike: async (world) => {
    world.host().process.kill('SIGKILL')
    await world.host().exited
    await world.ledger.held({ most: 0 })
    await world.startHost()
  },
}

const locksExpire: PullFault = {
  strike: async ({ emulator, pass }) => {
    emulator.failNext({ route: 'namespace', status: 500, times: 1_000_000, matches: isRenewal })
    await pass(lockMs)
    emulator.clearFaults()
  },
}

const faults: Readonly<Record<string, PullFault>> = {
  'kill -9 of the host': killed,
  'SIGTERM of the host': {
    mayRepeat: true,
    strike: async (world) => {
      const { process, exited } = world.host()
      process.kill('SIGTERM')
      await world.ledger.mode({})
      expect(await exited).toEqual([0, null])
      await world.startHost()
    },
  },
  'kill -9 of one of two replicas': {
    replicas: 2,
    mayRepeat: true,
    strike: async (world) => {
      world.host().process.kill('SIGKILL')
      await world.host().exited
      await world.startHost()
    },
  },
  'every connection reset': { strike: ({ network }) => network.reset() },
  'every connection half-open': { strike: ({ network }) => network.freeze() },
  'every connection slow': { strike: ({ network }) => network.slow() },
  'locks that expire while handlers run': locksExpire,
  'locks that expire while handlers of two replicas run': { ...locksExpire, replicas: 2, mayRepeat: true },
  'settlements answered 503': {
    strike: ({ emulator }) => emulator.failNext({ route: 'namespace', status: 503, times: 5, matches: isSettlement }),
  },
  'settlements without an answer': {
    strike: ({ emulator }) => emulator.failNext({ route: 'namespace', drop: true, times: 5, matches: isSettlement }),
  },
  'settlements refused for good': {
    strike: ({ emulator }) => emulator.failNext({ route: 'namespace', status: 400, times: 2, matches: isSettlement }),
  },
  'the namespace away for ten minutes': {
    speed: 100,
    strike: async ({ network, ledger, pass }) => {
      network.cut()
      // Handlers end while nothing can be settled.
      await ledger.mode({})
      await pass(10 * minuteMs)
      network.restore()
    },
  },
  'expired tokens and new signing keys': {
    signIn: 'entra',
    strike: async ({ emulator }) => {
      emulator.expireTokens()
      await emulator.rotateKeys()
    },
  },
  'one handler in ten failing': { strike: () => {}, after: { fail: 0.1 }, speed: 100 },
  'one handler in ten hanging': {
    ...{ strike: () => {}, after: { hang: 0.1 }, metadata: { handlerTimeout: '1m' } },
    mayRepeat: true,
  },
  // The process handles 24 MiB of events at a time: 35 of these.
  'bodies of 700 kB': { size: 700_000, underWay: 25, strike: () => {}, events: 120, peakMemory: 768 * 2 ** 20 },
  'the clock jumping an hour': { strike: ({ host }) => void host().process.kill('SIGUSR2') },
}

const random = seededRandom(seed)
const runs = createFaultRuns<PullWorld>(wantedEvents / Object.keys(faults).length, random)
afterAll(runs.print)

const run = async (name: string, fault: PullFault) =>
  runs.run(`pull: ${name}`, fault, await openPullWorld(seed, onTestFinished, fault))

// These end what hangs, in the long form too.
const timeout = 120_000 + 10 * wantedEvents

it.each(Object.entries(faults))('pull delivery loses nothing: %s', { timeout }, async (name, fault) => {
  expect(await run(name, fault)).toMatchObject({ lost: 0, ...(!fault.mayRepeat && { duplicates: 0 }) })
})

describe('the suite of pull delivery proves itself', { timeout }, () => {
  it('catches a binding that acknowledges before it handles', async () => {
    const { lost } = await run('(early) kill -9 of the host', { ...killed, honesty: 'early' })
    expect(lost).toBeGreaterThan(0)
  })

  it('catches a binding that knows events by their id alone', async () => {
    const { lost } = await run('(by id) kill -9 of the host', { ...killed, honesty: 'byId' })
    expect(lost).toBeGreaterThan(0)
  })
})
