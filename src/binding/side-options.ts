import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../endpoints.ts'
import type { Logger } from '../logger.ts'

/** What both sides are handed. */
export interface SideOptions {
  readonly endpoints: Endpoints
  /** The host's own credential, which goes before what metadata describes. */
  readonly hostCredential: TokenCredential | undefined
  readonly logger: Logger
}
