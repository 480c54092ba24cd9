import type { CheckCredential, CheckCredentialOptions, EntraAuthentication } from './authentication.ts'
import { createEntraCheck } from './entra-check.ts'
import { createKeySet } from './key-set.ts'

/** Checks Entra's tokens with the signing keys of the tenant. */
export function createEntraCredentialCheck(
  options: CheckCredentialOptions & { readonly authentication: EntraAuthentication },
): CheckCredential {
  const { authentication, input, endpoints, log, keySetTimeoutMs, closing, now, elapsed } = options
  const { environment, subscriberEndpoint } = input
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
      onFailure(error) {
        const reason = error instanceof Error ? error.name : typeof error
        log.warn('could not fetch the keys of Entra', { url, reason })
      },
    }),
    now,
  })
  return (headers) => check(headers.authorization)
}
