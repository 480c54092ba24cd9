import type { CheckCredential, CheckCredentialOptions } from './authentication.ts'
import { createSharedTokenCheck } from './shared-token.ts'

export async function createCredentialCheck(options: CheckCredentialOptions): Promise<CheckCredential> {
  const { authentication } = options
  switch (authentication.kind) {
    case 'none':
      return () => ({ kind: 'proven' })
    case 'secret':
      return createSharedTokenCheck(authentication.credentials)
    case 'entra': {
      // Loads jose only where tokens are checked.
      const { createEntraCredentialCheck } = await import('./entra-credential.ts')
      return createEntraCredentialCheck({ ...options, authentication })
    }
  }
}
