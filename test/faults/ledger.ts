import { z } from 'zod'
import { firstLine, startProcess } from './child-process.ts'
import type { OnEnd } from './network.ts'

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

/** A CloudEvent of the load. */
export interface LoadEvent {
  readonly specversion: '1.0'
  readonly type: 'load'
  readonly source: string
  readonly id: string
  readonly data: string
}

/** The application, in a process of its own: what was accepted, and what its handlers finished. */
export interface Ledger {
  /** Where handlers report. */
  readonly url: string
  mode(mode: LedgerMode): Promise<void>
  /** Resolves once at least, or at most, so many handlers are being held. */
  held(bound: { readonly least: number } | { readonly most: number }): Promise<void>
  /** Makes so many events in requests of at most `perRequest`, and counts those that `post` resolves for as accepted. */
  publish(load: Load): Promise<void>
  account(): Promise<Account>
}

/** Events to publish. */
export interface Load {
  readonly count: number
  readonly perRequest: number
  /** Bytes of data in each event. */
  readonly size: number
  /** Rejects where Event Grid does not accept them. */
  readonly post: (events: readonly LoadEvent[]) => Promise<void>
}

const finishedByKey = z.array(z.tuple([z.string(), z.number()]))

/** Starts one. @param onEnd gets what stops it. */
export async function openLedger(seed: number, onEnd: OnEnd): Promise<Ledger> {
  const program = startProcess(onEnd, [`${import.meta.dirname}/ledger-process.ts`])
  const url = `http://127.0.0.1:${await firstLine(program)}`
  const accepted = new Set<string>()
  const post = async (path: string) => (await fetch(`${url}${path}`, { method: 'POST' })).text()
  return {
    url,
    async mode({ hold, fail = 0, hang = 0 }) {
      const query = { ...(hold && { hold: '1' }), fail: `${fail}`, hang: `${hang}`, seed: `${seed}` }
      await post(`/mode?${new URLSearchParams(query)}`)
    },
    async held(bound) {
      await post(`/held?${'least' in bound ? `least=${bound.least}` : `most=${bound.most}`}`)
    },
    async publish({ count, perRequest, size, post: accept }) {
      const data = 'x'.repeat(size)
      for (let left = count; left > 0; left -= perRequest) {
        const events = Array.from({ length: Math.min(left, perRequest) }, (_, index): LoadEvent => {
          const number = accepted.size + index
          // Two sources share their ids, as they may: only both together name an event.
          return { specversion: '1.0', type: 'load', source: `/source/${number % 2}`, id: `${number >> 1}`, data }
        })
        await accept(events)
        for (const { source, id } of events) accepted.add(`${source} ${id}`)
      }
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
