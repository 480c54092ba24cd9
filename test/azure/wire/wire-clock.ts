/** The clock of a run: the machine's, or a faster one that an emulator shares. */
import { type Clock, pause } from '../../../src/support/time/clock.ts'

export type WireClock = Clock

/** Asks again and again until there is an answer, for a time; `undefined` where none came. Rejects with the reason of the signal. */
export async function repeat<T>(
  { clock, signal }: { readonly clock: WireClock; readonly signal: AbortSignal },
  { everyMs, limitMs }: { readonly everyMs: number; readonly limitMs: number },
  ask: () => Promise<T | undefined> | T | undefined,
): Promise<T | undefined> {
  const end = clock.now() + limitMs
  for (;;) {
    signal.throwIfAborted()
    const found = await ask()
    if (found !== undefined) return found
    if (clock.now() + everyMs >= end) return undefined
    await pause(clock, everyMs, signal)
  }
}
