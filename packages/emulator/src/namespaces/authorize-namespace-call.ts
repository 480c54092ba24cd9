// Who may publish to or receive from namespaces: `SharedAccessKey`, bearer token, data role.
import type { FastifyRequest } from 'fastify'
import { isSameText } from '../../../../src/support/text/text.ts'
import type { Directory } from '../entra/directory.ts'
import { roleThatAllows } from '../entra/roles.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import { advice, withAdvice } from '../model/advice.ts'
import type { Namespace, NamespaceTopic } from '../model/resources/namespace.ts'
import { readAuthorization } from '../server/authorization.ts'
import { forbidden, namespaceUnauthorized } from './namespace-error.ts'

export interface NamespaceAccess {
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  readonly directory: Pick<Directory, 'allows'>
}

export type DataAction = 'send' | 'receive'

/** Checks that a caller may do this. Keys and Entra tokens are accepted. Throws a NamespaceError. */
export async function authorizeNamespaceCall(
  { tokens, directory }: NamespaceAccess,
  request: FastifyRequest,
  asked: { readonly namespace: Namespace; readonly topic: NamespaceTopic | undefined; readonly action: DataAction },
): Promise<void> {
  const { namespace, topic, action } = asked
  const { scheme, credential = '' } = readAuthorization(request.headers) ?? {}
  if (scheme === 'sharedaccesskey') {
    const keys = [...namespace.keys, ...(topic?.keys ?? [])]
    if (keys.some((key) => isSameText(key, credential))) return
    throw namespaceUnauthorized(withAdvice('The access key is not valid.', advice.key))
  }
  if (scheme !== 'bearer') throw namespaceUnauthorized('The request carries no credential.')
  const verdict = await tokens.verifyToken(credential, { audience: dataPlaneAudience })
  if ('problem' in verdict) throw namespaceUnauthorized(`The access token is not valid. ${verdict.message}`.trim())
  const { clientId, objectId } = verdict.token
  request.outcome.clientId = clientId
  const scope = topic?.id ?? namespace.id
  const dataAction = `Microsoft.EventGrid/events/${action}/action`
  if (directory.allows({ principalId: objectId, data: true, action: dataAction, scope })) return
  throw forbidden(
    withAdvice(
      `The principal does not have permission to ${action} events at ${scope}.`,
      advice.role(roleThatAllows({ action: dataAction, data: true }), clientId),
    ),
  )
}
