import { createEntraCheck } from './entra-check.ts'
import type { EntraAuthentication, Examine, ExamineOptions } from './examine.ts'
import { createKeySetFetch } from './key-set-fetch.ts'
import { createSigningKeys } from './signing-keys.ts'

/** Checks Entra's tokens with the signing keys of the tenant. */
export function createEntraExamine({
  authentication,
  input: { environment, subscriberEndpoint },
  endpoints,
  log,
  keySetTimeoutMs,
  closing,
  now,
  elapsed,
}: ExamineOptions & { readonly authentication: EntraAuthentication }): Examine {
  const authorityHost = (endpoints.authorityHost ?? environment.authorityHost).replace(/\/$/, '')
  const url = `${authorityHost}/${encodeURIComponent(authentication.tenantId)}/discovery/v2.0/keys`
  const check = createEntraCheck({
    expected: {
      ...authentication,
      subscriberEndpoint,
      issuerHostV1: environment.tokenIssuerHostV1,
      authorityHosts: [authorityHost, environment.authorityHost],
    },
    keys: createSigningKeys({
      fetchKeySet: createKeySetFetch({
        ...{ url, ca: endpoints.ca, closing },
        ...(keySetTimeoutMs && { timeoutMs: keySetTimeoutMs }),
      }),
      now: elapsed,
      onFailure: (error) =>
        log.warn('the keys of Entra could not be fetched', {
          url,
          reason: error instanceof Error ? error.name : typeof error,
        }),
    }),
    now,
  })
  return (headers) => check(headers.authorization)
}
