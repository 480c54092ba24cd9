/** How long is waited for the handshakes of declared event subscriptions: what is published before they are over goes nowhere. */
import { once } from 'node:events'
import { realTimers } from '../../../../../src/support/time/clock.ts'

/** An endpoint may be silent: it is not waited for longer, in real milliseconds. */
const maxWaitMs = 5_000

/** @param idle resolves when nothing is under way */
export async function firstHandshakes(idle: Promise<void>): Promise<void> {
  await Promise.race([idle, once(realTimers.abortAfter(maxWaitMs), 'abort')])
}
