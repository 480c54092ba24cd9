/** How a delivery proves itself, by `deliveryAuthentication`: with nothing, a secret token, or a token of Entra. */
import type { IncomingHttpHeaders } from 'node:http'
import {
  type DeliveryCredential,
  deliveryTokenHeader,
  deriveDeliveryCredentials,
  keyIdOf,
  splitDeliveryCredentials,
} from '../../core/delivery-credential.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import type { QuietLog } from '../../core/quiet-log.ts'
import type { InputMetadata } from '../../metadata/typed/metadata.ts'
import { isSameText } from '../../support/text/same-text.ts'
import type { Evidence } from './credential-fault.ts'

/** Checks the credential of a delivery; without a promise where nothing has to be fetched. */
export type CheckCredential = (headers: IncomingHttpHeaders) => Evidence | Promise<Evidence>

export interface CheckCredentialOptions {
  readonly input: InputMetadata
  /** `authorityHost` is where Entra's signing keys are fetched, `ca` what is trusted for that. */
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

export async function createCredentialCheck(options: CheckCredentialOptions): Promise<CheckCredential> {
  const { deliveryAuthentication: delivery } = options.input
  switch (delivery.kind) {
    case 'none':
      return () => proven
    case 'secret':
      return createSharedTokenCheck(deriveDeliveryCredentials(options.input))
    case 'entra':
      return createTokenCheck(delivery, options)
  }
}

const headerName = deliveryTokenHeader.toLowerCase()
const proven: Evidence = { kind: 'proven' }
const absent: Evidence = { kind: 'absent' }
const mismatch: Evidence = { kind: 'mismatch' }

/**
 * Reads the header `X-EventGrid-Binding-Token` into evidence. Node joins a repeated header with a comma, which makes it a list like any
 * other. A delivery is proven if any of its credentials is one of ours. Compares in constant time.
 */
function createSharedTokenCheck(accepted: readonly DeliveryCredential[]): CheckCredential {
  const keyIds = new Set(accepted.map(({ keyId }) => keyId))
  const values = accepted.map(({ value }) => value.reveal())
  const isOurs = (text: string) => values.some((value) => isSameText(text, value))
  return ({ [headerName]: presented }) => {
    if (typeof presented !== 'string') return absent
    // It usually has one credential.
    if (isOurs(presented)) return proven
    const credentials = splitDeliveryCredentials(presented)
    if (credentials.some(isOurs)) return proven
    return credentials.some((credential) => keyIds.has(keyIdOf(credential))) ? mismatch : absent
  }
}

/** Checks Entra's tokens with the signing keys of the tenant. */
async function createTokenCheck(
  delivery: InputMetadata['deliveryAuthentication'] & { readonly kind: 'entra' },
  { input, endpoints, log, keySetTimeoutMs: timeoutMs, closing, now, elapsed }: CheckCredentialOptions,
): Promise<CheckCredential> {
  // Loads jose only where tokens are checked.
  const { createEntraCheck } = await import('./entra-token.ts')
  const { createKeySet } = await import('./key-set.ts')
  const { environment, subscriberEndpoint } = input
  const authorityHost = (endpoints.authorityHost ?? environment.authorityHost).replace(/\/$/, '')
  const url = `${authorityHost}/${encodeURIComponent(delivery.tenantId)}/discovery/v2.0/keys`
  const check = createEntraCheck({
    expected: {
      ...delivery,
      subscriberEndpoint,
      issuerHostV1: environment.tokenIssuerHostV1,
      authorityHosts: [authorityHost, environment.authorityHost],
    },
    keys: createKeySet({
      url,
      ca: endpoints.ca,
      timeoutMs,
      closing,
      elapsed,
      onFailure: (reason) => log.warn('could not fetch the keys of Entra', { url, reason }),
    }),
    now,
  })
  return (headers) => check(headers.authorization)
}
