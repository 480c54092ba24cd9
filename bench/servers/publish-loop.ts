import { answerLines } from './json-lines.ts'

/** Publish with so many callers, each of which waits for its call before the next, for so long. */
export interface PublishOrder {
  readonly callers: number
  readonly ms: number
}

/** Takes orders. `publish` publishes `eventsPerCall` events. */
export async function takeOrders(eventsPerCall: number, publish: () => Promise<unknown>): Promise<void> {
  await answerLines(async ({ callers, ms }: PublishOrder) => {
    const started = performance.now()
    let calls = 0
    const caller = async () => {
      while (performance.now() - started < ms) {
        await publish()
        calls++
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return { events: calls * eventsPerCall, ms: performance.now() - started }
  })
}
