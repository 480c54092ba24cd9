import type { CheckCredential, CheckCredentialOptions, EntraAuthentication } from './authentication.ts'
import { createEntraCheck } from './entra-check.ts'
import { createKeySet } from './key-set.ts'

/** Checks Entra's tokens with the signing keys of the tenant. */
export function createEntraCredentialCheck({
  authentication,
  input: { environment, subscriberEndpoint },
  endpoints,
  log,
  keySetTimeoutMs,
  closing,
  now,
  elapsed,
}: CheckCredentialOptions & { readonly authentication: EntraAuthentication }): CheckCredential {
  const authorityHost = (endpoints.authorityHost ?? environment.authorityHost).replace(/\/$/, '')
  const url = `${authorityHost}/${encodeURIComponent(authentication.tenantId)}/discovery/v2.0/keys`
  const check = createEntraCheck({
    expected: {
      ...authentication,
      subscriberEndpoint,
      issuerHostV1: environment.tokenIssuerHostV1,
      authorityHosts: [authorityHost, environment.authorityHost],
    },
    keys: createKeySet({
      ...{ url, ca: endpoints.ca, closing, elapsed },
      ...(keySetTimeoutMs !== undefined && { timeoutMs: keySetTimeoutMs }),
      onFailure: (error) =>
        log.warn('could not fetch the keys of Entra', {
          url,
          reason: error instanceof Error ? error.name : typeof error,
        }),
    }),
    now,
  })
  return (headers) => check(headers.authorization)
}
