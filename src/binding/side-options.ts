import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../core/endpoints.ts'
import type { Logger } from '../core/logger.ts'
import type { SteadyClock } from '../support/clock.ts'

export interface SideOptions {
  readonly endpoints: Endpoints
  /** The host's own credential, used in place of the one that metadata describes. */
  readonly hostCredential: TokenCredential | undefined
  readonly logger: Logger
  /** The clock of the watch over the event subscription. @default systemClock */
  readonly clock?: SteadyClock
}
