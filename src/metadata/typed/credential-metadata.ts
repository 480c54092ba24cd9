// The Azure credential that the fields describe, by `azureCredential`; the host's own goes first.
import { checked } from '../fields/checked.ts'
import type { InputValues } from '../fields/schema.ts'
import type { CredentialMetadata } from './metadata.ts'

type CredentialValues = Pick<InputValues, 'azureCredential' | 'tenantId' | 'clientId' | 'clientSecret'>

/** The credential that the fields describe; the host's own credential goes first. */
export function credentialMetadata(
  { azureCredential, tenantId, clientId, clientSecret }: CredentialValues,
  { credentialGiven }: { readonly credentialGiven: boolean },
): CredentialMetadata {
  if (credentialGiven) return { kind: 'host' }
  switch (azureCredential) {
    case 'clientSecret':
      return {
        kind: 'clientSecret',
        tenantId: checked('tenantId', tenantId),
        clientId: checked('clientId', clientId),
        clientSecret: checked('clientSecret', clientSecret),
      }
    case 'managedIdentity':
      return { kind: 'managedIdentity', clientId }
    case 'cli':
      return { kind: 'cli', tenantId }
    default:
      return { kind: azureCredential, tenantId, clientId }
  }
}
