/** Check `azure/credential`: does Entra give a token? */
import type { TokenCredential } from '@azure/core-auth'
import { NoTokenError } from '../../../../azure/refusals/entra-refusal.ts'
import { BindingError } from '../../../../core/errors.ts'
import { type Finding, failed, failedBy, joined, ok } from '../../report/finding.ts'

export interface WantedToken {
  readonly audience: string
  readonly scope: string
  /** Throws where the process lacks what the credential needs. */
  credential(): TokenCredential | undefined
}

export async function askForTokens(wanted: readonly WantedToken[], abortSignal: AbortSignal): Promise<Finding> {
  return joined(await Promise.all(wanted.map((one) => askForToken(one, abortSignal))))
}

async function askForToken({ audience, scope, credential }: WantedToken, abortSignal: AbortSignal): Promise<Finding> {
  try {
    await credential()?.getToken(scope, { abortSignal })
    return ok(`a token for ${audience}`)
  } catch (error) {
    if (error instanceof BindingError) return failedBy(error)
    if (!(error instanceof NoTokenError)) throw error
    const remedy = error.fix ?? 'check the network, a proxy (HTTPS_PROXY) and azureEnvironment'
    return failed(error.message, { remedy })
  }
}
