// Check of a SAS token: `r`, `e`, `s`, signature, expiry formats, resource.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { parseDotNetTime } from '../model/events/event-grid-time.ts'

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
