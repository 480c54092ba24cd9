/** Checks `endpoint/certificate` and `topic/certificate`: would Azure accept the certificate of each address? */
import { once } from 'node:events'
import { isIP } from 'node:net'
import tls, { type PeerCertificate, type SecureContext } from 'node:tls'
import { secureContextOf } from '../../../azure/http.ts'
import type { Target } from '../../../support/net/probe.ts'
import { codeOf } from '../../../support/process/error-code.ts'
import { cut, oneLine } from '../../../support/text/text.ts'
import { withLimit } from '../../../support/time/clock.ts'
import { onFirstUse } from '../context/azure-resource.ts'
import type { Route } from '../context/side-context.ts'
import { type Finding, failed, joined, ok, warning } from '../finding.ts'

export interface CertificateOptions {
  readonly hostname: string
  readonly target: Target
  /** PEM of certificates that are trusted beside Node's own. */
  readonly ca: string | undefined
  /** An emulator answers in the place of Azure, so its authority is right. @default false */
  readonly byEmulator?: boolean
  readonly signal: AbortSignal
  /** PEM of the roots that Azure trusts. @default the roots that Node brings */
  readonly publicRoots?: readonly string[]
}

const limitMs = 5_000
const dayMs = 86_400_000
const soonDays = 14

const contextOf = (roots: readonly string[]) => tls.createSecureContext({ ca: [...roots] })
/** Public roots only, without NODE_EXTRA_CA_CERTS and the system's store: Azure does not know these two. */
const publicRoots = onFirstUse(() => contextOf(tls.rootCertificates))
const ownRoots = onFirstUse(() => contextOf(tls.getCACertificates('default')))

interface Seen {
  /** Node's code for what is wrong with the chain; `undefined` where nothing is. */
  readonly fault: string | undefined
  readonly certificate: PeerCertificate
  readonly protocol: string | null
}

export interface CertificateHost extends Pick<CertificateOptions, 'ca' | 'byEmulator'> {
  readonly url: URL
  route(): Promise<Route>
}

export async function checkCertificates(
  { url, ca, byEmulator = false, route }: CertificateHost,
  signal: AbortSignal,
): Promise<Finding> {
  if (url.protocol === 'http:') return ok('plain http on this machine: there is no certificate')
  const { targets, byEmulator: isPassedOn } = await route()
  if (isPassedOn) return ok('the emulator judges it, as at a delivery')
  const findings = await Promise.all(
    targets.map(async (target) => {
      const finding = await checkCertificate({ hostname: url.hostname, target, ca, byEmulator, signal })
      if (!finding || targets.length === 1) return finding
      return { ...finding, detail: `${target.address}: ${finding.detail}` }
    }),
  )
  const seen = findings.filter((finding) => finding !== undefined)
  const remedy = 'check the network and firewalls between here and there'
  return seen.length > 0 ? joined(seen) : failed(`no connection to ${url.host}`, { remedy })
}

/**
 * Checks the certificate of one address as Event Grid does: by public roots and the intermediate certificates that the server
 * sends. A missing intermediate is not fetched. `undefined`: there was no connection.
 */
export async function checkCertificate(options: CertificateOptions): Promise<Finding | undefined> {
  const { hostname } = options
  let seen: Seen
  try {
    seen = await seeCertificate(options, options.publicRoots ? contextOf(options.publicRoots) : publicRoots())
  } catch (error) {
    return isUnreachable(error) ? undefined : noTls(hostname, error)
  }
  const { fault, certificate, protocol } = seen
  const found = ownFaults(certificate, hostname)
  if (fault !== undefined && isTrustFault(fault)) found.unshift(await checkTrust(fault, certificate, options))
  else if (fault !== undefined && found.every(({ status }) => status !== 'failed')) {
    // Of an intermediate certificate, say.
    found.push(explainFault(fault, hostname, certificate))
  }
  if (found.length > 0) return joined(found)
  return ok(`${oneLine(protocol ?? 'TLS', 20)}, valid until ${dayOf(certificate.valid_to)}`)
}

/** Does this machine know the authority, which the public roots do not? */
async function checkTrust(fault: string, certificate: PeerCertificate, options: CertificateOptions): Promise<Finding> {
  const known = await seeCertificate(options, ownContext(options.ca))
  if (known.fault !== undefined && isTrustFault(known.fault)) return explainFault(fault, options.hostname, certificate)
  const authority = issuerOf(certificate)
  if (options.byEmulator) return ok(`its authority, ${authority}, is the emulator's`)
  return warning(`its authority, ${authority}, is known on this machine only: Azure would not trust it`)
}

/** What is wrong with the certificate itself, whoever issued it. */
function ownFaults(certificate: PeerCertificate, hostname: string): Finding[] {
  const [from, to, now] = [Date.parse(certificate.valid_from), Date.parse(certificate.valid_to), Date.now()]
  const days = Math.floor((to - now) / dayMs)
  const name = codeOf(tls.checkServerIdentity(serverNameOf(hostname), certificate))
  const fault = to < now ? 'CERT_HAS_EXPIRED' : from > now ? 'CERT_NOT_YET_VALID' : undefined
  const remedy = 'renew it now, and see why that did not happen by itself'
  return [
    ...[name, fault].flatMap((code) => (code === undefined ? [] : [explainFault(code, hostname, certificate)])),
    ...(fault === undefined && days < soonDays
      ? [warning(`it is valid until ${dayOf(certificate.valid_to)}: it expires in ${days} days`, { remedy })]
      : []),
  ]
}

const serverNameOf = (hostname: string) => hostname.replace(/^\[|\]$/g, '')

const ownContext = (ca: string | undefined) => (ca === undefined ? ownRoots() : (secureContextOf({ ca }) ?? ownRoots()))

function seeCertificate({ hostname, target, signal }: CertificateOptions, secureContext: SecureContext): Promise<Seen> {
  return withLimit({ ms: limitMs, signal }, async (limited) => {
    const name = serverNameOf(hostname)
    const socket = tls.connect({
      host: target.address,
      port: target.port,
      secureContext,
      minVersion: 'TLSv1.2',
      servername: isIP(name) ? '' : name,
      // The fault is reported. Nothing is sent over this connection.
      rejectUnauthorized: false,
      checkServerIdentity: () => undefined,
    })
    limited.addEventListener('abort', () => socket.destroy(limited.reason), { once: true })
    try {
      await once(socket, 'secureConnect')
      const { authorizationError: untrusted } = socket
      const fault = untrusted ? String(codeOf(untrusted) ?? untrusted) : undefined
      return { certificate: socket.getPeerCertificate(), protocol: socket.getProtocol(), fault }
    } finally {
      socket.destroy()
    }
  })
}

const isUnreachable = (error: unknown) =>
  /^E(CONNREFUSED|HOSTUNREACH|NETUNREACH|TIMEDOUT|ADDRNOTAVAIL)$/.test(codeOf(error) ?? '')

/** Whether the fault is about the authority, not about the name or the dates. */
const isTrustFault = (fault: string) => /SELF_SIGNED|ISSUER|VERIFY_LEAF|UNTRUSTED|INVALID_CA/.test(fault)

function explainFault(fault: string, hostname: string, certificate: PeerCertificate): Finding {
  if (fault === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = oneLine(certificate.subjectaltname ?? 'another host', 200)
    const remedy = `let the server there present a certificate for ${hostname}, or correct the name in the endpoint`
    return failed(`the certificate is for ${names}, not for ${hostname}`, { remedy })
  }
  if (fault === 'CERT_HAS_EXPIRED') {
    const remedy = "renew it, unless this machine's clock is wrong"
    return failed(`the certificate expired on ${dayOf(certificate.valid_to)}`, { remedy })
  }
  if (fault === 'CERT_NOT_YET_VALID') {
    const remedy = "wait, or issue another, unless this machine's clock is wrong"
    return failed(`the certificate is valid from ${dayOf(certificate.valid_from)} on`, { remedy })
  }
  if (fault === 'DEPTH_ZERO_SELF_SIGNED_CERT') {
    const remedy = "use one of a public authority (Let's Encrypt, for instance, by cert-manager or the tunnel's own)"
    return failed('the certificate is self-signed, which Event Grid does not accept', { remedy })
  }
  const issuer = issuerOf(certificate)
  if (fault === 'SELF_SIGNED_CERT_IN_CHAIN') {
    const what = `the certificate comes from a private authority, ${issuer}, which Event Grid does not trust`
    return failed(what, { remedy: 'use a certificate of a public authority' })
  }
  const incomplete = `the chain is not complete up to a public authority: the server sends no certificate of ${issuer}`
  return failed(`${incomplete} (${fault}). A browser fetches a missing one by itself, Event Grid does not`, {
    remedy: [
      'serve the whole chain: fullchain.pem in place of cert.pem. To see what is sent:',
      `openssl s_client -connect ${hostname}:443 -servername ${hostname} -showcerts </dev/null`,
    ].join('\n'),
  })
}

function noTls(hostname: string, error: unknown): Finding {
  const code = codeOf(error) ?? (error instanceof Error ? error.name : 'no answer')
  const why = error instanceof Error ? cut(oneLine(error.message), 200) : ''
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/.test(code) || /protocol version|unsupported protocol/i.test(why)) {
    const remedy = 'turn TLS 1.2 and 1.3 on in the ingress'
    return failed(`${hostname} speaks no TLS 1.2 or newer (${code})`, { remedy })
  }
  const remedy = 'let the port of subscriberEndpoint speak https; is it the port for http, or of something else?'
  return failed(`${hostname} does not speak TLS (${code}: ${why})`, { remedy })
}

function issuerOf({ issuer }: PeerCertificate): string {
  const name: unknown = issuer?.CN ?? issuer?.O
  return typeof name === 'string' && name !== '' ? JSON.stringify(oneLine(name, 80)) : 'an unnamed authority'
}

function dayOf(text: string): string {
  const time = Date.parse(text)
  return Number.isNaN(time) ? oneLine(text, 40) : new Date(time).toISOString().slice(0, 10)
}
