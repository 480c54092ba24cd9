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

/** So long after the end of its caller a write that was sent is awaited, in ms. */
const lastAnswerMs = 10_000

/**
 * Sends a write. One that was sent is not aborted with its caller, but awaited for a while: whoever reads next, such as the side that an
 * `update` opens, would otherwise read what that write is still to change.
 */
export async function untilAnswered<T>(
  { signal, deadline }: CallLimits,
  clock: Pick<SteadyClock, 'setTimer'>,
  send: (limits: CallLimits) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const late = new AbortController()
  let cancel = () => {}
  const startTimer = () => {
    cancel = clock.setTimer(lastAnswerMs, () => late.abort(signal.reason))
  }
  signal.addEventListener('abort', startTimer, { once: true })
  try {
    return await send({ signal: late.signal, deadline })
  } finally {
    cancel()
    signal.removeEventListener('abort', startTimer)
  }
}
