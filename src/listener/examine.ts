import type { IncomingHttpHeaders } from 'node:http'
import { type DeliveryCredential, deliveryTokenHeader } from '../core/delivery-credential.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import type { Evidence } from './credential.ts'
import { createSharedTokenCheck } from './shared-token.ts'

/** How deliveries prove where they come from. */
export type ListenerAuthentication =
  | { readonly kind: 'secret'; readonly credentials: readonly DeliveryCredential[] }
  /** The tenant by its id, as tokens name it. */
  | { readonly kind: 'entra'; readonly tenantId: string; readonly clientId: string; readonly eventGridClientId: string }
  | { readonly kind: 'none' }

/** An Entra application that deliveries are for. */
export type EntraAuthentication = Extract<ListenerAuthentication, { kind: 'entra' }>

/** Reads the credential of a delivery into evidence; at once where nothing has to be fetched. */
export type Examine = (headers: IncomingHttpHeaders) => Evidence | Promise<Evidence>

export interface ExamineOptions {
  readonly authentication: ListenerAuthentication
  readonly input: InputMetadata
  readonly endpoints: Endpoints
  readonly log: QuietLog
  /** Longest wait for Entra's signing keys, in milliseconds. @default 5_000 */
  readonly keySetTimeoutMs?: number
  /** Ends what is being fetched. */
  readonly closing: AbortSignal
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that nobody sets. */
  readonly elapsed: () => number
}

export async function createExamine(options: ExamineOptions): Promise<Examine> {
  const { authentication } = options
  switch (authentication.kind) {
    case 'none':
      return () => ({ kind: 'proven' })
    case 'secret': {
      const check = createSharedTokenCheck(authentication.credentials)
      const name = deliveryTokenHeader.toLowerCase()
      return (headers) => check(headers[name])
    }
    case 'entra': {
      // With a library of its own, which each start would wait for: loaded where tokens are checked.
      const { createEntraExamine } = await import('./entra-examine.ts')
      return createEntraExamine({ ...options, authentication })
    }
  }
}
