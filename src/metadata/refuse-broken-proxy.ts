import { brokenProxy } from '../core/endpoints.ts'
import { metadataInvalid } from './metadata-invalid.ts'

/**
 * Throws where the environment names a proxy that the Azure SDKs could not use.
 *
 * @throws BindingError METADATA_INVALID
 */
export function refuseBrokenProxy(environment: Readonly<Record<string, string | undefined>>): void {
  const proxy = brokenProxy(environment)
  if (proxy === undefined) return
  const fix = 'write it with its scheme, like http://proxy.example.com:8080'
  throw metadataInvalid('the environment', [{ field: proxy, rule: 'must be an http or https URL', fix }])
}
