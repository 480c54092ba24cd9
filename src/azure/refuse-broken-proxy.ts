// Refusal of `HTTPS_PROXY`, `ALL_PROXY`, `HTTP_PROXY` values without an http or https URL.
import { metadataInvalid } from '../metadata/typed/metadata-invalid.ts'

const variables = ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY'].flatMap((name) => [name, name.toLowerCase()])

/**
 * Throws where the environment names a proxy that the Azure SDKs would ignore, or throw for: its value is no http or https
 * URL.
 *
 * @throws BindingError METADATA_INVALID
 */
export function refuseBrokenProxy(environment: Readonly<Record<string, string | undefined>>): void {
  const field = variables.find((name) => environment[name])
  if (!field || /^https?:$/.test(URL.parse(environment[field] ?? '')?.protocol ?? '')) return
  const fix = 'write it with its scheme, like http://proxy.example.com:8080'
  throw metadataInvalid('the environment', [{ field, rule: 'must be an http or https URL', fix }])
}
