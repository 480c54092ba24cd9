import { BindingError } from '../../src/core/errors.ts'

/** The BindingError that a promise is rejected with; anything else fails the test. */
export async function refusal(work: Promise<unknown>): Promise<BindingError> {
  const outcome: { error?: unknown; resolved?: true } = await work.then(
    () => ({ resolved: true }),
    (error: unknown) => ({ error }),
  )
  if (outcome.error instanceof BindingError) return outcome.error
  throw new Error(outcome.resolved ? 'it was not refused' : 'it was refused with another error', {
    cause: outcome.error,
  })
}
