/** How the emulator makes its certificate authority and the certificates of its host names. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto'
import { isIP } from 'node:net'
import { createSecureContext, type SecureContext, type TlsOptions } from 'node:tls'
import { z } from 'zod'
import { realTimers } from '../../../../../src/support/time/clock.ts'

const dayMs = 86_400_000
const maxCachedHosts = 1000

/** Both in PEM. */
const certificateAndKey = z.object({ certificate: z.string(), key: z.string() })
type CertificateAndKey = z.infer<typeof certificateAndKey>

const authorityName = 'Event Grid emulator CA'

/** The certificate and key of a new authority (ECDSA P-256, ten years), as JSON. */
export function makeAuthority(): string {
  const extensions = [
    extension('2.5.29.19', derSequence(derTrue()), 'critical'),
    extension('2.5.29.15', derBits(Buffer.from([0b0000_0110]), 1), 'critical'),
  ]
  return JSON.stringify(certify(authorityName, 3650, extensions))
}

type Authority = ReturnType<typeof authorityOf>

const authorityOf = (key: KeyObject) => ({ name: nameOf(authorityName), key, keyId: keyIdOf(createPublicKey(key)) })

export type CertificateAuthority = ReturnType<typeof createCertificateAuthority>

/** The emulator's own certificate authority. @param made by {@link makeAuthority}. @default a new one */
export function createCertificateAuthority(made: string = makeAuthority()) {
  const { certificate, key: pem } = certificateAndKey.parse(JSON.parse(made))
  const authority = authorityOf(createPrivateKey(pem))
  const contexts = new Map<string, SecureContext>()
  const issue = (hosts: readonly string[]) => issueLeaf(authority, hosts)
  function contextFor(host: string): SecureContext {
    const known = contexts.get(host)
    if (known) return known
    const leaf = issue([host])
    const context = createSecureContext({ cert: leaf.certificate, key: leaf.key })
    // Clients choose the names, so their number must be bounded.
    if (contexts.size >= maxCachedHosts) contexts.clear()
    contexts.set(host, context)
    return context
  }
  return {
    /** Its certificate (PEM): what clients must trust. */
    certificate,
    /** A server certificate for host names and IP addresses. */
    issue,
    /** The TLS settings for a host name of SNI; made at the first call, then cached. */
    contextFor,
    /** The TLS settings of a server: one certificate for its own hosts, and one for each name that a client asks for (SNI). */
    serverSettings(hosts: readonly string[]): TlsOptions {
      const { certificate: cert, key } = issue(hosts)
      return { cert, key, SNICallback: (host, done) => done(null, contextFor(host.toLowerCase())) }
    },
  }
}

function issueLeaf(authority: Authority, hosts: readonly string[]): CertificateAndKey {
  const extensions = [
    extension('2.5.29.19', derSequence(), 'critical'),
    extension('2.5.29.15', derBits(Buffer.from([0b1000_0000]), 7), 'critical'),
    extension('2.5.29.37', derSequence(derObjectId('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', derSequence(...hosts.map(alternativeName))),
  ]
  return certify(hosts[0] ?? 'localhost', 820, extensions, authority)
}

/** Makes a key, and its certificate, signed by an authority. @param authority @default the new key itself */
function certify(
  commonName: string,
  days: number,
  extensions: readonly Buffer[],
  authority?: Authority,
): CertificateAndKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { name, key, keyId } = authority ?? authorityOf(privateKey)
  const algorithm = derSequence(derObjectId('1.2.840.10045.4.3.2')) // ecdsa-with-SHA256
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const now = realTimers.now()
  // A day back, for clients whose clock is behind.
  const validity = derSequence(derTime(new Date(now - dayMs)), derTime(new Date(now + days * dayMs)))
  const version3 = derContext(0, derInteger(Buffer.from([2])))
  const keyInfo = publicKey.export({ type: 'spki', format: 'der' })
  const keyIds = [
    extension('2.5.29.14', derOctets(keyIdOf(publicKey))),
    // Python 3.13 requires this extension in every certificate.
    extension('2.5.29.35', derSequence(derImplicit(0, keyId))),
  ]
  const body = derSequence(
    version3,
    derInteger(serial),
    algorithm,
    name,
    validity,
    nameOf(commonName),
    keyInfo,
    derContext(3, derSequence(...extensions, ...keyIds)),
  )
  const signed = derSequence(body, algorithm, derBits(sign('sha256', body, key)))
  return { certificate: toPem(signed), key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
}

function nameOf(commonName: string): Buffer {
  return derSequence(derSet(derSequence(derObjectId('2.5.4.3'), derText(commonName.slice(0, 64)))))
}

function extension(id: string, value: Buffer, critical?: 'critical'): Buffer {
  return derSequence(derObjectId(id), ...(critical ? [derTrue()] : []), derOctets(value))
}

function alternativeName(host: string): Buffer {
  return isIP(host) ? derImplicit(7, addressBytes(host)) : derImplicit(2, Buffer.from(host))
}

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const left = groups(head)
  const right = groups(tail ?? '')
  const zeros = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return Buffer.from([...left, ...zeros, ...right].map((group) => group.padStart(4, '0')).join(''), 'hex')
}

function keyIdOf(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

/** How Java calls the authority in its store. */
const storeAlias = 'eventgrid-emulator'

/**
 * A certificate as a PKCS#12 store (RFC 7292) that Java trusts what is in: not encrypted and without a MAC, as nothing in it is secret, so
 * that any password opens it. The attribute `trustedKeyUsage` is Java's own; without it the certificate is none that is trusted.
 */
export function pkcs12Of(certificate: string): Buffer {
  const data = (content: Buffer) => derSequence(derObjectId('1.2.840.113549.1.7.1'), derContext(0, derOctets(content)))
  const attribute = (id: string, value: Buffer) => derSequence(derObjectId(id), derSet(value))
  const bag = derSequence(
    derObjectId('1.2.840.113549.1.12.10.1.3'), // certBag
    derContext(
      0,
      derSequence(
        derObjectId('1.2.840.113549.1.9.22.1'), // x509Certificate
        derContext(0, derOctets(new X509Certificate(certificate).raw)),
      ),
    ),
    derSet(
      attribute('1.2.840.113549.1.9.20', derWideText(storeAlias)), // friendlyName
      attribute('2.16.840.1.113894.746875.1.1', derObjectId('2.5.29.37.0')), // trustedKeyUsage: any
    ),
  )
  const version3 = derInteger(Buffer.from([3]))
  return derSequence(version3, data(derSequence(data(derSequence(bag)))))
}

/** The names that a client on this machine may use for the emulator. */
export const loopbackHosts = ['localhost', '127.0.0.1', '::1'] as const

/**
 * The few ASN.1 encodings (DER, ITU-T X.690) that a certificate is made of. Each function returns tag, length and
 * content. By hand, because a certificate library costs more start-up time than the whole emulator may take.
 */
function derElement(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

/** SEQUENCE. */
const derSequence = (...contents: readonly Uint8Array[]) => derElement(0x30, ...contents)
/** SET. */
const derSet = (...contents: readonly Uint8Array[]) => derElement(0x31, ...contents)
/** OCTET STRING. */
const derOctets = (content: Uint8Array) => derElement(0x04, content)
/** BIT STRING of whole bytes, or with the lowest `unused` bits of the last byte left out. */
const derBits = (content: Uint8Array, unused = 0) => derElement(0x03, Buffer.from([unused]), content)
/** UTF8String. */
const derText = (text: string) => derElement(0x0c, Buffer.from(text))
/** BMPString. */
const derWideText = (text: string) => derElement(0x1e, Buffer.from(text, 'utf16le').swap16())
/** BOOLEAN true. */
const derTrue = () => derElement(0x01, Buffer.from([0xff]))
/** A context-specific, constructed element, as in `[3] EXPLICIT`. */
const derContext = (number: number, ...contents: readonly Uint8Array[]) => derElement(0xa0 | number, ...contents)
/** A context-specific, primitive element, as in `[2] IMPLICIT IA5String`. */
const derImplicit = (number: number, content: Uint8Array) => derElement(0x80 | number, content)

/** INTEGER that is not negative, from its bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  const sign = (bytes[0] ?? 0) & 0x80 ? Buffer.from([0]) : Buffer.alloc(0)
  return derElement(0x02, sign, bytes)
}

/** OBJECT IDENTIFIER from its dotted form. */
export function derObjectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest.flatMap(base128)]
  return derElement(0x06, Buffer.from(bytes))
}

function base128(arc: number): number[] {
  const groups = [arc % 128]
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) | 0x80)
  return groups
}

/** UTCTime, which RFC 5280 asks for until 2049, or GeneralizedTime from 2050 on. */
export function derTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '')
  return date.getUTCFullYear() < 2050
    ? derElement(0x17, Buffer.from(digits.slice(2)))
    : derElement(0x18, Buffer.from(digits))
}
