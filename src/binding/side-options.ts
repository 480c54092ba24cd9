import type { TokenCredential } from '@azure/core-auth'
import type { Endpoints } from '../core/endpoints.ts'
import type { Logger } from '../core/logger.ts'

/** What both sides are handed. */
export interface SideOptions {
  readonly endpoints: Endpoints
  /** The host's own credential, which goes before what metadata describes. */
  readonly hostCredential: TokenCredential | undefined
  readonly logger: Logger
}
