import { execFileSync } from 'node:child_process'
import { expect } from 'vitest'
import type { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import type { Host } from './host.ts'
import type { Account, Ledger, LedgerMode } from './ledger.ts'

/** A scenario that things break in. */
export interface World {
  readonly emulator: EventGridEmulator
  readonly ledger: Ledger
  /** The host that was started last. */
  host(): Host
  /** Publishes so many events, each accepted by the topic. */
  publish(count: number): Promise<void>
}

/** Something that breaks. */
export interface Fault<W extends World> {
  /** What breaks, with at least `underWay` handlers under way. Those are released afterwards. */
  readonly strike: (world: W, random: () => number) => Promise<void> | void
  /** @default 50 */
  readonly underWay?: number
  /** How the application is after the fault. @default all handlers succeed */
  readonly after?: LedgerMode
  /** Events a round. @default a tenth of the fault's share, 200 at least */
  readonly events?: number
  /** Memory that the host must never exceed, in bytes. */
  readonly peakMemory?: number
}

interface Row extends Account {
  readonly fault: string
  readonly rounds: number
  readonly recoveryMs: number
  readonly peakMemory: number
}

/** FAULT_SEED replays a run; FAULT_EVENTS: events of a suite in all, at least. */
export const seed = Number(process.env.FAULT_SEED ?? Math.floor(Math.random() * 2 ** 31))
export const wantedEvents = Number(process.env.FAULT_EVENTS ?? 5_000)

const mostRounds = 10

/** Runs the faults of one suite, and prints a table of them at its end. */
export function createFaultRuns<W extends World>(shareOfFault: number, random: () => number) {
  const startedAt = performance.now()
  const rows: Row[] = []
  return {
    /** Breaks something in the middle of things, again and again. */
    async run(name: string, fault: Fault<W>, world: W): Promise<Account> {
      const { strike, underWay = 50, after = {}, events = Math.max(200, Math.ceil(shareOfFault / mostRounds)) } = fault
      const rounds = Math.min(mostRounds, Math.max(2, Math.ceil(shareOfFault / events)))
      const { emulator, ledger, host } = world
      const recoveries: number[] = []
      for (let round = 0; round < rounds; round++) {
        await ledger.mode({ hold: true })
        await world.publish(events)
        await ledger.held({ least: underWay + Math.floor(random() * 10) })
        const began = performance.now()
        await strike(world, random)
        await ledger.mode(after)
        await emulator.settled()
        recoveries.push(performance.now() - began)
      }
      const account = await ledger.account()
      const recoveryMs = recoveries.toSorted((a, b) => a - b)[recoveries.length >> 1] ?? 0
      rows.push({ fault: name, rounds, recoveryMs, peakMemory: host().peakMemory(), ...account })
      expect(emulator.records.deadLetters.all()).toHaveLength(0)
      expect(emulator.figures()).toMatchObject({ deadLettered: 0, dropped: 0 })
      if (fault.peakMemory) expect(host().peakMemory()).toBeLessThan(fault.peakMemory)
      return account
    },
    print() {
      const table = rows.map(({ fault, rounds, accepted, lost, duplicates, recoveryMs, peakMemory }) => ({
        ...{ fault, rounds, events: accepted, lost, duplicates },
        'recovery (ms, median)': Math.round(recoveryMs),
        'peak memory (MiB)': Math.round(peakMemory / 2 ** 20),
      }))
      const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
      const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1)
      console.log(`commit ${commit}, ${new Date().toISOString().slice(0, 10)}, seed ${seed}, ${minutes} minutes`)
      console.table(table)
    },
  }
}
