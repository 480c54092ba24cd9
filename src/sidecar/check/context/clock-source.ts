/** Whom the check of this machine's clock asks for the time. */
import type { CheckId } from '../report/check-ids.ts'

export interface ClockSource {
  /** A URL of Azure; any answer has a `Date` header. Throws BindingError for an invalid endpoint. */
  url(): string
  /** The check that reports why there is no answer. */
  readonly reachedBy: CheckId
}
