import { answerLines } from './json-lines.ts'

/** What a receiver answers: how long its events were on their way from the namespace to the handler, in ms, since it was asked last. */
export interface TimedEvents {
  readonly latencies: readonly number[]
}

let latencies: number[] = []

/** The handler of the benchmark: notes how long an event was on its way, where the event says when it was sent. */
export function handle({ type, data }: { readonly type?: unknown; readonly data?: unknown }): void {
  if (type !== 'Timed' || typeof data !== 'object' || data === null || !('sent' in data)) return
  // Both processes read the one monotonic clock of the machine.
  latencies.push(Number(process.hrtime.bigint() - BigInt(String(data.sent))) / 1e6)
}

/** Tells the benchmark what was noted. */
export async function answerTimedEvents(): Promise<void> {
  await answerLines((): TimedEvents => {
    const noted = latencies
    latencies = []
    return { latencies: noted }
  })
}
