/** The options that all sides share. */

import type { CredentialOptions } from '../azure/credential.ts'
import type { ErrorHandler } from '../core/event.ts'
import type { Logger } from '../core/logger.ts'
import type { SteadyClock } from '../support/time/clock.ts'

export interface SideOptions extends Pick<CredentialOptions, 'endpoints' | 'hostCredential'> {
  readonly logger: Logger
  /** Gets the error of each failed handler call. @default none */
  readonly onError?: ErrorHandler | undefined
  /** Every secret of the component, for texts from outside that may repeat one. @default none */
  readonly secrets?: () => readonly string[]
  /** The clock of the watch over the event subscription. @default systemClock */
  readonly clock?: SteadyClock
}
