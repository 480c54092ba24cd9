import { isSameText } from '../../support/same-text.ts'
import type { TokenVerdict } from '../entra/token-issuer.ts'
import type { Publishable } from '../model/resource.ts'
import { type PublishFault, unauthorized } from './publish-fault.ts'
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

/** Decides whether a request may publish: the application's id if it has a token, or Event Grid's refusal. */
export async function authorizePublish(
  presented: ReturnType<typeof presentedCredentials>,
  authorization: PublishAuthorization,
): Promise<{ readonly clientId?: string } | { readonly fault: PublishFault }> {
  const { target, host } = authorization
  const { key, sas, bearer } = presented
  if (bearer !== undefined && key === undefined && sas === undefined) return authorizeBearer(bearer, authorization)
  if (key === undefined && sas === undefined) {
    return presented.otherScheme
      ? refused('Request has an unsupported Authorization scheme (must be SharedAccessSignature or Bearer).')
      : refused('Request must contain one of the following authorization signature: aeg-sas-token, aeg-sas-key.')
  }
  if (target.disableLocalAuth) {
    return refused(`Local authentication is disabled for ${host.toUpperCase()}: use a token of Microsoft Entra ID.`)
  }
  if (key !== undefined) {
    return target.keys.some((known) => isSameText(known, key)) ? {} : refused(wrongKey(host, key))
  }
  const { keys } = target
  const problem = sasProblem(sas ?? '', { keys, host, path: authorization.path, now: authorization.now })
  return problem ? refused(sasMessage(problem, host)) : {}
}

async function authorizeBearer(
  bearer: string,
  authorization: PublishAuthorization,
): Promise<{ readonly clientId?: string } | { readonly fault: PublishFault }> {
  const verdict = await authorization.verifyToken(bearer)
  if ('problem' in verdict) return refused(`Unable to read access token. ${verdict.message}`.trim())
  const { clientId, objectId } = verdict.token
  if (authorization.maySend(objectId)) return { clientId }
  return refused(
    'The principal associated with access token presented with the incoming request does not have permission to send data to ' +
      `${authorization.target.id}.`,
  )
}

function refused(message: string): { readonly fault: PublishFault } {
  return { fault: unauthorized(message) }
}

function wrongKey(host: string, key: string): string {
  const reason = /^[A-Za-z0-9+/]+={0,2}$/.test(key)
    ? 'The key does not match any key of the resource'
    : 'The input is not a valid Base-64 string as it contains a non-base 64 character, more than two ' +
      'padding characters, or an illegal character among the padding characters. '
  return `The request authorization key is not authorized for ${host.toUpperCase()}. This is due to the reason: ${reason}.`
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
