/** A pause that ends at the deadline or the abort of a call to Resource Manager. */
import { ArmFailureError } from '../../azure/read-failure.ts'
import { pause, type SteadyClock } from '../../support/time/clock.ts'

export interface CallLimits {
  readonly signal: AbortSignal
  /** When the call ends, by `elapsed` of the clock. */
  readonly deadline: number
}

/**
 * Waits within the limits of a call.
 *
 * @throws ArmFailureError of kind `deadline` with this message, at once, where the deadline comes first; the reason of the signal
 */
export async function pauseWithin(
  { signal, deadline }: CallLimits,
  { clock, ms, message }: { readonly clock: SteadyClock; readonly ms: number; readonly message: string },
): Promise<void> {
  if (clock.elapsed() + ms >= deadline) throw new ArmFailureError({ kind: 'deadline', message })
  await pause(clock, ms, signal)
  signal.throwIfAborted()
}
