// Binary encoding (ASN.1, DER) of certificate parts.

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
export const derSequence = (...contents: readonly Uint8Array[]) => derElement(0x30, ...contents)
/** SET. */
export const derSet = (...contents: readonly Uint8Array[]) => derElement(0x31, ...contents)
/** OCTET STRING. */
export const derOctets = (content: Uint8Array) => derElement(0x04, content)
/** BIT STRING of whole bytes, or with the lowest `unused` bits of the last byte left out. */
export const derBits = (content: Uint8Array, unused = 0) => derElement(0x03, Buffer.from([unused]), content)
/** UTF8String. */
export const derText = (text: string) => derElement(0x0c, Buffer.from(text))
/** BOOLEAN true. */
export const derTrue = () => derElement(0x01, Buffer.from([0xff]))
/** A context-specific, constructed element, as in `[3] EXPLICIT`. */
export const derContext = (number: number, ...contents: readonly Uint8Array[]) => derElement(0xa0 | number, ...contents)
/** A context-specific, primitive element, as in `[2] IMPLICIT IA5String`. */
export const derImplicit = (number: number, content: Uint8Array) => derElement(0x80 | number, content)

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
