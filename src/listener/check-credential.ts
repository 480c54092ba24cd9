import { deliveryTokenHeader } from '../core/delivery-credential.ts'
import type { CheckCredential, CheckCredentialOptions } from './authentication.ts'
import { createSharedTokenCheck } from './shared-token.ts'

export async function createCredentialCheck(options: CheckCredentialOptions): Promise<CheckCredential> {
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
      // Loads jose only where tokens are checked.
      const { createEntraCredentialCheck } = await import('./entra-credential.ts')
      return createEntraCredentialCheck({ ...options, authentication })
    }
  }
}
