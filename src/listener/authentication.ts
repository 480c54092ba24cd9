import type { IncomingHttpHeaders } from 'node:http'
import type { DeliveryCredential } from '../core/delivery-credential.ts'
import type { Endpoints } from '../core/endpoints.ts'
import type { QuietLog } from '../core/quiet-log.ts'
import type { InputMetadata } from '../metadata/metadata.ts'
import type { Evidence } from './credential.ts'

/** How deliveries prove that they come from our event subscription. */
export type ListenerAuthentication =
  | { readonly kind: 'secret'; readonly credentials: readonly DeliveryCredential[] }
  /** `tenantId` is the id that tokens name. */
  | { readonly kind: 'entra'; readonly tenantId: string; readonly clientId: string; readonly eventGridClientId: string }
  | { readonly kind: 'none' }

/** An Entra application that deliveries are for. */
export type EntraAuthentication = Extract<ListenerAuthentication, { kind: 'entra' }>

/** Checks the credential of a delivery; without a promise where nothing has to be fetched. */
export type CheckCredential = (headers: IncomingHttpHeaders) => Evidence | Promise<Evidence>

export interface CheckCredentialOptions {
  readonly authentication: ListenerAuthentication
  readonly input: InputMetadata
  readonly endpoints: Endpoints
  readonly log: QuietLog
  /** Longest wait for Entra's signing keys, in milliseconds. @default 5_000 */
  readonly keySetTimeoutMs?: number
  /** Ends a fetch of keys. */
  readonly closing: AbortSignal
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number
}
