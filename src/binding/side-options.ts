import type { Logger } from '../core/logger.ts'
import type { SteadyClock } from '../support/clock.ts'
import type { CredentialOptions } from './credential.ts'

export interface SideOptions extends Pick<CredentialOptions, 'endpoints' | 'hostCredential'> {
  readonly logger: Logger
  /** The clock of the watch over the event subscription. @default systemClock */
  readonly clock?: SteadyClock
}
