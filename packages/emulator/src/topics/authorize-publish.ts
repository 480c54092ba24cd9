/** Who may publish to a topic or domain: by key, SAS token or Entra token, and from which address. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isSameText } from '../../../../src/support/text/text.ts'
import type { Directory } from '../entra/directory.ts'
import { roleThatAllows } from '../entra/roles.ts'
import type { TokenIssuer } from '../entra/token-issuer.ts'
import { dataPlaneAudience } from '../entra/token-request.ts'
import type { Publishable } from '../model/resources/resource.ts'
import type { Clock } from '../model/time/clock.ts'
import { advice, parseDotNetTime, withAdvice } from '../model/wording.ts'
import { queryOf, readAuthorization } from '../server/service.ts'
import { unauthorized } from './publish-fault.ts'

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

export type SasProblem = 'format' | 'signature' | 'expired' | 'resource'

/**
 * Checks `r={resource}&e={expiry}&s={signature}`. Either key may have signed the raw text of the first two parts. The
 * resource is the topic's endpoint, with or without a version in its query
 * (Event Grid: authenticate-with-access-keys-shared-access-signatures).
 */
export function sasProblem(
  token: string,
  expected: { readonly keys: readonly string[]; readonly host: string; readonly path: string; readonly now: number },
): SasProblem | undefined {
  const parts = /^(r=([^&]+)&e=([^&]+))&s=([^&]+)$/.exec(token.trim())
  if (!parts) return 'format'
  const [, signed = '', rawResource = '', rawExpiry = '', rawSignature = ''] = parts
  const resource = decoded(rawResource)
  const expiry = decoded(rawExpiry)
  // A plus in base64 is not a space.
  const signature = decoded(rawSignature.replaceAll('+', '%2B'))
  if (resource === undefined || expiry === undefined || signature === undefined) return 'format'
  const expiresAt = expiryTime(expiry)
  if (expiresAt === undefined) return 'format'
  if (!expected.keys.some((key) => isSignature(signature, signed, key))) return 'signature'
  if (!isResource(resource, expected)) return 'resource'
  return expiresAt <= expected.now ? 'expired' : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Both forms are UTC: .NET's, which the JavaScript SDK writes too, and ISO, which Python's does. */
function expiryTime(text: string): number | undefined {
  const dotNet = parseDotNetTime(text)
  if (dotNet !== undefined) return dotNet
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text)) return undefined
  const zoned = /(Z|[+-]\d\d:\d\d)$/i.test(text) ? text : `${text}Z`
  const time = Date.parse(zoned.replace(/(\.\d{3})\d+/, '$1'))
  return Number.isNaN(time) ? undefined : time
}

function isSignature(signature: string, signed: string, key: string): boolean {
  const wanted = createHmac('sha256', Buffer.from(key, 'base64')).update(signed).digest()
  const given = Buffer.from(signature, 'base64')
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function isResource(resource: string, expected: { readonly host: string; readonly path: string }): boolean {
  if (!URL.canParse(resource)) return false
  const { host, pathname } = new URL(resource)
  const path = pathname.toLowerCase().replace(/(?<!\/)\/+$/, '')
  const wanted = expected.path.toLowerCase().replace(/(?<!\/)\/+$/, '')
  const wantedHost = new URL(`https://${expected.host}`).host
  return host.replace(/:443$/, '') === wantedHost && (wanted === path || wanted.startsWith(`${path}/`))
}
