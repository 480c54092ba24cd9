import { expect, it } from 'vitest'
import { readFailure } from '../../src/azure/read-failure.ts'
import type { EndpointAnswer } from '../../src/provision/handshake.ts'
import { askBeforeWrite } from '../../src/provision/upsert.ts'
import { createManualClock } from '../support/manual-clock.ts'

const consent = { kind: 'consent', byWaiting: false } as const
const byWaiting = { kind: 'consent', byWaiting: true } as const
const silence = { kind: 'silence', why: 'no answer in time' } as const
const emulated = { kind: 'emulated' } as const
const refusal = { kind: 'refusal', refusal: { answer: '503', what: 'it answered 503', fix: 'start it' } } as const

interface Row {
  readonly what: string
  /** One after the other, the last one again and again. `hangs`: no answer before the question is given up. */
  readonly answers: readonly (EndpointAnswer | 'hangs')[]
  readonly mayWait?: boolean
  readonly timeoutMs?: number
  /** Until the deadline of the attempt. @default two minutes */
  readonly leftMs?: number
  /** `written`, `written unasked` with a warning, or the kind of the failure. */
  readonly outcome: string
  readonly questions: number
  readonly afterMs: number
  /** Answers that held the write back. */
  readonly waits?: number
}

const rows: readonly Row[] = [
  { what: 'two consents', answers: [consent], outcome: 'written', questions: 2, afterMs: 1_000 },
  { what: 'an emulator', answers: [emulated], leftMs: 100, outcome: 'written', questions: 1, afterMs: 0 },
  {
    ...{ what: 'a refusal where no replica waits', answers: [refusal] },
    ...{ outcome: 'noConsent', questions: 1, afterMs: 0 },
  },
  {
    ...{ what: 'refusals all the time where this replica may be the next', answers: [refusal], mayWait: true },
    ...{ outcome: 'noConsent', questions: 10, afterMs: 10_000, waits: 10 },
  },
  {
    ...{ what: 'a refusal, then consents', answers: [refusal, consent], mayWait: true },
    ...{ outcome: 'written', questions: 3, afterMs: 2_000, waits: 1 },
  },
  {
    ...{ what: 'a consent, silence, then consents', answers: [consent, silence, consent] },
    ...{ outcome: 'written', questions: 4, afterMs: 3_000, waits: 1 },
  },
  {
    ...{ what: 'consents of replicas that wait themselves', answers: [byWaiting] },
    ...{ outcome: 'written', questions: 10, afterMs: 10_000 },
  },
  {
    ...{ what: 'silence', answers: [silence], outcome: 'written unasked' },
    ...{ questions: 10, afterMs: 10_000, waits: 10 },
  },
  {
    ...{ what: 'silence, with half of a short subscriptionTimeout', answers: [silence], timeoutMs: 8_000 },
    ...{ outcome: 'written unasked', questions: 4, afterMs: 4_000, waits: 4 },
  },
  {
    ...{ what: 'an endpoint that hangs, four seconds a question', answers: ['hangs'], outcome: 'written unasked' },
    ...{ questions: 2, afterMs: 10_000, waits: 2 },
  },
  {
    ...{ what: 'silence with too little time', answers: [silence], leftMs: 300 },
    ...{ outcome: 'deadline', questions: 1, afterMs: 300, waits: 1 },
  },
  {
    ...{ what: 'one consent with too little time', answers: [consent], leftMs: 300 },
    ...{ outcome: 'deadline', questions: 1, afterMs: 300 },
  },
  {
    ...{ what: 'a refusal with too little time', answers: [refusal], mayWait: true, leftMs: 300 },
    ...{ outcome: 'noConsent', questions: 1, afterMs: 300, waits: 1 },
  },
]

/** Asks by a clock that passes while nothing else happens. */
async function ask({ answers, mayWait = false, timeoutMs = 120_000, leftMs = 120_000 }: Row, aborts?: AbortController) {
  const { clock, advance } = createManualClock()
  const heard: string[] = []
  const waits: string[] = []
  let questions = 0
  const endpoint = {
    shown: 'https://orders.example.com/api/events',
    async ask(signal: AbortSignal): Promise<EndpointAnswer> {
      const answer = answers[questions++] ?? answers.at(-1) ?? emulated
      if (questions === 2) aborts?.abort(new Error('over'))
      if (answer !== 'hangs') return answer
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      return silence
    },
  }
  const signal = aborts?.signal ?? new AbortController().signal
  let outcome: string | undefined
  void askBeforeWrite({
    ...{ endpoint, eventSubscriptionName: 'orders', because: 'other labels', mayWait, timeoutMs, clock },
    limits: { signal, deadline: clock.elapsed() + leftMs },
    onAnswer: ({ kind }) => heard.push(kind),
    onWait: (why) => waits.push(why),
  }).then(
    (warning) => {
      outcome = warning === undefined ? 'written' : 'written unasked'
    },
    (error: unknown) => {
      outcome = error === signal.reason ? 'aborted' : readFailure(error, 0).kind
    },
  )
  for (let turns = 0; outcome === undefined && turns < 10_000; turns++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (outcome === undefined) advance(50)
  }
  return { outcome, questions, afterMs: clock.elapsed(), waits, heard }
}

it.each(rows)('asks before a write: $what', async (row) => {
  const { outcome, questions, waits, heard, afterMs } = await ask(row)
  expect({ outcome, questions, afterMs, waits: waits.length }).toEqual({
    ...{ outcome: row.outcome, questions: row.questions, afterMs: row.afterMs, waits: row.waits ?? 0 },
  })
  expect(heard).toHaveLength(questions)
  for (const why of waits) expect(why).toMatch(/503|no answer in time/)
})

it('asks nothing more, and takes no answer, after its signal', async () => {
  const silent = { what: '', answers: [silence], outcome: 'aborted', questions: 2, afterMs: 1_000 }
  const { outcome, questions, heard } = await ask(silent, new AbortController())
  expect({ outcome, questions, heard }).toEqual({ outcome: 'aborted', questions: 2, heard: ['silence'] })
})
