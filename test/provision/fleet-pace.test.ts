import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Difference,
  decideRepairInterval,
  decideStartPause,
  decideTurn,
  fleetSpreadMs,
} from '../../src/provision/upsert/fleet-pace.ts'

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const anyDifference = fc.record<Difference>({
  kind: fc.constantFrom('missing', 'credential', 'broken', 'settings'),
  changesSeen: fc.nat(5),
  waits: fc.nat(5),
  ageMs: fc.nat(120_000),
  replicas: fc.integer({ min: 1, max: 10_000 }),
  random: chance,
})
const sample: Difference = { kind: 'settings', changesSeen: 0, waits: 0, ageMs: 100, replicas: 1, random: 0.5 }

describe('whether a replica writes', () => {
  it('what takes nothing from others is written at the second look at the latest, whatever was seen', () => {
    fc.assert(
      fc.property(anyDifference, fc.constantFrom('missing' as const, 'credential' as const), (difference, kind) => {
        const turn = decideTurn({ ...difference, kind })
        expect(turn.kind).toBe(difference.ageMs > 1_000 && difference.waits === 0 ? 'readAgain' : 'write')
      }),
    )
  })

  it('settings that others changed meanwhile are never replaced', () => {
    fc.assert(
      fc.property(anyDifference, (difference) => {
        expect(decideTurn({ ...difference, kind: 'settings', changesSeen: 2 })).toEqual({ kind: 'yield' })
      }),
    )
    expect(decideTurn({ ...sample, replicas: 2, changesSeen: 1 })).toEqual({ kind: 'yield' })
    expect(decideTurn({ ...sample, changesSeen: 1 })).toEqual({ kind: 'write' })
  })

  it('a fleet replaces settings only after a wait in which nothing changed', () => {
    fc.assert(
      fc.property(anyDifference, ({ replicas, ...difference }) => {
        const fleet = { ...difference, replicas: replicas + 1 }
        expect(decideTurn({ ...fleet, kind: 'settings', changesSeen: 0, waits: 0 })).toMatchObject({
          kind: 'readAgain',
        })
        expect(decideTurn({ ...fleet, kind: 'settings', changesSeen: 0, waits: 1 })).toEqual({ kind: 'write' })
      }),
    )
  })

  it('no wait is longer than a minute and a half, and waiting ends', () => {
    fc.assert(
      fc.property(anyDifference, (difference) => {
        const turn = decideTurn(difference)
        if (turn.kind === 'readAgain') expect(turn.afterMs).toBeLessThanOrEqual(90_000)
        expect(decideTurn({ ...difference, waits: difference.changesSeen + 1 }).kind).not.toBe('readAgain')
      }),
    )
  })

  it('a single replica waits for nobody', () => {
    expect(decideTurn(sample)).toEqual({ kind: 'write' })
    expect(decideTurn({ ...sample, kind: 'broken' })).toEqual({ kind: 'write' })
  })
})

describe('pauses', () => {
  it('keep the calls of all replicas below what ARM refills, and a single replica waits for nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10_000 }), (replicas) => {
        // Two calls each that ARM counts as writes, against 10 a second.
        expect((2 * replicas) / (fleetSpreadMs(replicas) / 1_000)).toBeLessThanOrEqual(10)
      }),
    )
    expect(fleetSpreadMs(1)).toBe(0)
  })

  it('take at most a quarter of a start that somebody waits for', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(86_400_000), chance, (replicas, timeoutMs, random) => {
        expect(decideStartPause({ replicas, timeoutMs, random })).toBeLessThanOrEqual(timeoutMs / 4)
      }),
    )
  })

  it('between repairs double with each that had to write, from a minute to an hour', () => {
    expect([0, 1, 2, 3, 6, 7, 1_000].map(decideRepairInterval)).toEqual(
      [1, 1, 2, 4, 32, 60, 60].map((minutes) => minutes * 60_000),
    )
  })
})
