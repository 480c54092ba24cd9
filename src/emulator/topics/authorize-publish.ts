// Who may publish: `aeg-sas-key`, SAS token, bearer token, `disableLocalAuth`; refusal texts.
import { isSameText } from '../../support/text/same-text.ts'
import { roleThatAllows } from '../entra/roles.ts'
import type { TokenVerdict } from '../entra/token-issuer.ts'
import { advice, withAdvice } from '../model/advice.ts'
import type { Publishable } from '../model/resources/resource.ts'
import { unauthorized } from './publish-fault.ts'
import { type SasProblem, sasProblem } from './sas-token.ts'

export const publishAudience = 'https://eventgrid.azure.net'

export const sendAction = 'Microsoft.EventGrid/events/send/action'

/** The credentials of a publish request. If there are several, Event Grid's order decides. */
export function presentedCredentials(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  query: URLSearchParams,
) {
  const text = (name: string) => {
    const value = headers[name]
    return Array.isArray(value) ? value[0] : value
  }
  const authorization = text('authorization')
  const [, scheme = '', value = ''] = /^(\S+)\s*(.*)$/.exec(authorization ?? '') ?? []
  const is = (name: string) => scheme.toLowerCase() === name
  return {
    /** Of the header, else of the query. */
    key: text('aeg-sas-key') ?? query.get('aeg-sas-key') ?? undefined,
    /** Of its own header, else of `Authorization: SharedAccessSignature`. */
    sas: text('aeg-sas-token') ?? (is('sharedaccesssignature') ? value : undefined),
    bearer: is('bearer') ? value : undefined,
    /** Whether the `Authorization` header has another scheme. */
    otherScheme: authorization !== undefined && !is('bearer') && !is('sharedaccesssignature'),
  }
}

export interface PublishAuthorization {
  readonly target: Publishable
  /** As the request's `Host` says it. */
  readonly host: string
  readonly path: string
  readonly now: number
  readonly verifyToken: (bearer: string) => Promise<TokenVerdict>
  /** Whether the principal of a token may send to this topic or domain. */
  readonly maySend: (objectId: string) => boolean
}

/** Checks that a request may publish. Returns the application's id if it has a token. Throws a PublishFault. */
export async function authorizePublish(
  { key, sas, bearer, otherScheme }: ReturnType<typeof presentedCredentials>,
  authorization: PublishAuthorization,
): Promise<string | undefined> {
  const { target, host, path, now } = authorization
  if (bearer !== undefined && key === undefined && sas === undefined) return authorizeBearer(bearer, authorization)
  if (key === undefined && sas === undefined) {
    throw unauthorized(
      otherScheme
        ? 'Request has an unsupported Authorization scheme (must be SharedAccessSignature or Bearer).'
        : 'Request must contain one of the following authorization signature: aeg-sas-token, aeg-sas-key.',
    )
  }
  if (target.disableLocalAuth) {
    throw unauthorized(`Local authentication is disabled for ${host.toUpperCase()}: use a token of Microsoft Entra ID.`)
  }
  if (key !== undefined) {
    if (!target.keys.some((known) => isSameText(known, key))) throw unauthorized(wrongKey(host, key))
    return undefined
  }
  const problem = sasProblem(sas ?? '', { keys: target.keys, host, path, now })
  if (problem) throw unauthorized(sasMessage(problem, host))
  return undefined
}

async function authorizeBearer(
  bearer: string,
  { target, verifyToken, maySend }: PublishAuthorization,
): Promise<string> {
  const verdict = await verifyToken(bearer)
  if ('problem' in verdict) throw unauthorized(`Unable to read access token. ${verdict.message}`.trim())
  const { clientId, objectId } = verdict.token
  if (maySend(objectId)) return clientId
  throw unauthorized(
    withAdvice(
      'The principal associated with access token presented with the incoming request does not have permission to send data to ' +
        `${target.id}.`,
      advice.role(roleThatAllows({ action: sendAction, data: true }), clientId),
    ),
  )
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
