// Who may publish: `aeg-sas-key`, SAS token, bearer token, `disableLocalAuth`; refusal texts.
import type { FastifyRequest } from 'fastify'
import { isSameText } from '../../../../src/support/text/text.ts'
import type { Directory } from '../entra/directory.ts'
import { roleThatAllows } from '../entra/roles.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import { advice, withAdvice } from '../model/advice.ts'
import type { Publishable } from '../model/resources/resource.ts'
import type { Clock } from '../model/time/clock.ts'
import { readAuthorization } from '../server/authorization.ts'
import { queryOf } from '../server/query.ts'
import { unauthorized } from './publish-fault.ts'
import { type SasProblem, sasProblem } from './sas-token.ts'

const sendAction = 'Microsoft.EventGrid/events/send/action'

export interface PublishAccess {
  readonly clock: Clock
  readonly tokens: Pick<TokenIssuer, 'verifyToken'>
  readonly directory: Pick<Directory, 'allows'>
}

/** Checks that a request may publish. If it has several credentials, Event Grid's order decides. Throws a PublishFault. */
export async function authorizePublish(
  access: PublishAccess,
  request: FastifyRequest,
  target: Publishable,
  path: string,
): Promise<void> {
  const { headers, host } = request
  const { 'aeg-sas-key': keyHeader, 'aeg-sas-token': sasHeader } = headers
  const given = readAuthorization(headers)
  const key = [keyHeader].flat()[0] ?? queryOf(request).get('aeg-sas-key') ?? undefined
  const sas = [sasHeader].flat()[0] ?? (given?.scheme === 'sharedaccesssignature' ? given.credential : undefined)
  if (key === undefined && sas === undefined) {
    if (given?.scheme === 'bearer') return authorizeBearer(access, request, target, given.credential)
    throw unauthorized(
      given === undefined
        ? 'Request must contain one of the following authorization signature: aeg-sas-token, aeg-sas-key.'
        : 'Request has an unsupported Authorization scheme (must be SharedAccessSignature or Bearer).',
    )
  }
  if (target.disableLocalAuth) {
    throw unauthorized(`Local authentication is disabled for ${host.toUpperCase()}: use a token of Microsoft Entra ID.`)
  }
  if (key !== undefined) {
    if (target.keys.some((known) => isSameText(known, key))) return
    throw unauthorized(wrongKey(host, key))
  }
  const problem = sasProblem(sas ?? '', { keys: target.keys, host, path, now: access.clock.now() })
  if (problem) throw unauthorized(sasMessage(problem, host))
}

async function authorizeBearer(
  { tokens, directory }: PublishAccess,
  request: FastifyRequest,
  { id: scope }: Publishable,
  bearer: string,
): Promise<void> {
  const verdict = await tokens.verifyToken(bearer, { audience: dataPlaneAudience })
  if ('problem' in verdict) throw unauthorized(`Unable to read access token. ${verdict.message}`.trim())
  const { clientId, objectId: principalId } = verdict.token
  if (!directory.allows({ principalId, action: sendAction, scope, data: true })) {
    throw unauthorized(
      withAdvice(
        'The principal associated with access token presented with the incoming request does not have permission to send data to ' +
          `${scope}.`,
        advice.role(roleThatAllows({ action: sendAction, data: true }), clientId),
      ),
    )
  }
  request.outcome.clientId = clientId
}

function wrongKey(host: string, key: string): string {
  const reason = /^[A-Za-z0-9+/]+={0,2}$/.test(key)
    ? 'The key does not match any key of the resource'
    : 'The input is not a valid Base-64 string as it contains a non-base 64 character, more than two ' +
      'padding characters, or an illegal character among the padding characters. '
  return withAdvice(
    `The request authorization key is not authorized for ${host.toUpperCase()}. This is due to the reason: ${reason}.`,
    advice.key,
  )
}

function sasMessage(problem: SasProblem, host: string): string {
  const endpoint = host.toUpperCase()
  const words: Readonly<Record<SasProblem, string>> = {
    format:
      'Invalid key in aeg-sas-token. Valid format :r=UrlEncodedResource&e=UrlEncodedUtcExpiration&s=UrlEncodedSignature.',
    signature: `The specified SAS token signature is invalid for topic '${endpoint}'.`,
    expired: `The specified SAS token has expired for topic '${endpoint}'.`,
    resource: `The specified SAS token is for another resource than topic '${endpoint}'.`,
  }
  return words[problem]
}
