import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { hideSecrets, querySecrets, scrub } from '../../src/core/scrub.ts'

/** Characters that each encoding writes in its own way. */
const secret = 'k3y+/Zs"<&>\' ä€😀%41\\n`=='
const accessKey = 'c2VjcmV0+WtleQ/o9s='

const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
const inUrl = (text: string) => encodeURIComponent(text)
const inForm = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const lowered = (text: string) => text.replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())
/** Writes signs of a text by their UTF-16 unit, as JSON does. */
const units = (text: string, signs: RegExp, digits: (code: number) => string) =>
  text.replace(signs, (one) => `\\u${digits(one.charCodeAt(0))}`)
const upper = (code: number) => hex(code, 4).toUpperCase()
const lower = (code: number) => hex(code, 4)
const eachPoint = (text: string, signs: RegExp, write: (point: number) => string) =>
  text.replace(signs, (one) => write(one.codePointAt(0) ?? 0))
const named: Readonly<Record<string, string>> = { '"': '&quot;', '<': '&lt;', '&': '&amp;', '>': '&gt;', "'": '&apos;' }
const byNames = (text: string) => text.replace(/["<&>']/g, (one) => named[one] ?? one)

const spellings: readonly { readonly name: string; readonly write: (text: string) => string }[] = [
  { name: 'raw', write: (text) => text },
  { name: 'URL-encoded', write: inUrl },
  { name: 'URL-encoded in lower case', write: (text) => lowered(inUrl(text)) },
  { name: 'URL-encoded with every sign', write: (text) => inUrl(text).replace(/'/g, '%27') },
  { name: 'as a whole URL has it', write: encodeURI },
  { name: 'form-encoded', write: inForm },
  { name: 'form-encoded in lower case', write: (text) => lowered(inForm(text)) },
  { name: 'that a form was read from', write: (text) => text.replaceAll('+', ' ') },
  { name: 'in JSON', write: inJson },
  { name: 'in JSON with \\/', write: (text) => inJson(text).replaceAll('/', '\\/') },
  { name: 'in JSON as Python writes it', write: (text) => units(inJson(text), /[^ -~]/g, lower) },
  { name: 'in JSON as PHP writes it', write: (text) => units(inJson(text), /[^ -~]/g, lower).replaceAll('/', '\\/') },
  {
    name: 'in JSON as .NET writes it',
    write: (text) => units(inJson(text).replaceAll('\\"', '\\u0022'), /[+<>&'`]|[^ -~]/g, upper),
  },
  { name: 'in HTML', write: byNames },
  { name: 'in HTML as Python writes it', write: (text) => byNames(text).replaceAll('&apos;', '&#x27;') },
  {
    name: 'in HTML as .NET writes it',
    write: (text) => byNames(text).replace('&apos;', '&#x27;').replace('+', '&#x2B;'),
  },
  { name: 'in HTML as Go writes it', write: (text) => byNames(text).replace('&apos;', '&#39;').replace('+', '&#43;') },
  { name: 'in HTML by number', write: (text) => eachPoint(text, /./gsu, (point) => `&#${point};`) },
  {
    name: 'in HTML by hexadecimal number',
    write: (text) => eachPoint(text, /./gsu, (point) => `&#x${hex(point, 1)};`),
  },
  { name: 'in HTML, signs by number', write: (text) => eachPoint(text, /[^\w\s.-]/gu, (point) => `&#${point};`) },
  { name: 'in base64', write: (text) => Buffer.from(text).toString('base64') },
  { name: 'in base64url', write: (text) => Buffer.from(text).toString('base64url') },
]

describe.each([secret, accessKey])('hides a secret', (hiddenText) => {
  it.each(spellings)('$name', ({ write }) => {
    expect(hideSecrets(`it said [${write(hiddenText)}] to us`, [hiddenText])).toBe('it said [(redacted)] to us')
  })
})

it('hides a key that lacks its padding', () => {
  expect(hideSecrets('it said [c2VjcmV0LWtleQ]', ['c2VjcmV0LWtleQ=='])).toBe('it said [(redacted)]')
})

it.each([0, 1, 2, 3, 4])('hides a secret within base64 that begins %i bytes before it', (before) => {
  const around = (text: string) => Buffer.from(`${'u'.repeat(before)}${text}:more`)
  for (const form of ['base64', 'base64url'] as const) {
    const shown = hideSecrets(around(secret).toString(form), [secret])
    expect(shown).toContain('(redacted)')
    // Left are characters that have a bit of what stands before or after.
    expect(shown.replace('(redacted)', '').length).toBeLessThan(around('').toString(form).length + 3)
  }
})

/** Ways to write a text as a whole. */
const wholes: readonly ((text: string) => string)[] = [
  ...[(text: string) => text, inUrl, inForm, inJson, byNames],
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(text).toString('base64url'),
]

it('hides any secret in any of these spellings, and leaves the rest', () => {
  const secretText = fc.string({
    unit: fc.constantFrom(...'abnuxXYZ019+/=_-.!#$%&()*:;?@[\\]^`{|}"\'<>,~ äß€語😀'),
    minLength: 4,
    maxLength: 24,
  })
  fc.assert(
    fc.property(secretText, fc.constantFrom(...wholes), (any, write) => {
      fc.pre(any.trim() === any && !/[/?#]/.test(any))
      expect(hideSecrets(`before "${write(any)}" after`, [any])).toMatch(/^before "\(redacted\)={0,2}" after$/)
    }),
    { numRuns: 1_000, seed: 52 },
  )
})

it('leaves a text alone that has no secret in it', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 300, unit: fc.constantFrom(...'abcde 01245%\\&;u{}x#=+/\n') }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  )
  fc.assert(
    fc.property(text, (any) => {
      expect(hideSecrets(any, ['k3Y-of-ours', '7~', 'pässword'])).toBe(any)
    }),
    { numRuns: 1_000, seed: 52 },
  )
})

it('looks through a long text once for each spelling, and decodes nothing of it', () => {
  const secrets = [secret, accessKey]
  const texts = Array.from({ length: 40 }, () => `failed: ${randomBytes(14_250).toString('base64')} ${accessKey}`)
  const steps = [vi.spyOn(Buffer, 'from'), vi.spyOn(String.prototype, 'replaceAll')]
  onTestFinished(() => void vi.restoreAllMocks())
  const stepsOf = (text: string) => {
    for (const step of steps) step.mockClear()
    expect(scrub(text, secrets)).not.toContain(accessKey)
    return steps.map(({ mock }) => mock.calls.length)
  }
  stepsOf(accessKey)
  const [decoded, replaced] = stepsOf(accessKey)
  expect(decoded).toBe(0)
  for (const text of texts) expect(stepsOf(text)).toEqual([0, replaced])
})

describe('without knowing them, hides', () => {
  it.each([
    { text: 'see https://a.example/p?code=x&y#z now', shown: 'see https://a.example/p?(redacted) now' },
    { text: 'see https://a.example/p#token now', shown: 'see https://a.example/p#(redacted) now' },
    { text: '"https:\\/\\/a.example\\/p?code=x"', shown: '"https:\\/\\/a.example\\/p?(redacted)"' },
    { text: 'location: /login?rd=%2Fapi%3Fcode%3Dx', shown: 'location: /login?(redacted)' },
    { text: 'rd=%2Fapi%2Fevents%3Fcode%3Dx', shown: 'rd=%2Fapi%2Fevents%3F(redacted)' },
    { text: 'authorization: Bearer abcdef', shown: 'authorization: Bearer (redacted)' },
    { text: 'authorization: Bearer  \tabcdef', shown: 'authorization: Bearer  \t(redacted)' },
    { text: '{"bearer":"abcdef"}', shown: '{"bearer":"(redacted)"}' },
    {
      text: 'SharedAccessKeyName=Root;SharedAccessKey=abcd=;a',
      shown: 'SharedAccessKeyName=Root;SharedAccessKey=(redacted);a',
    },
    {
      text: 'see http://user:pass@word@proxy.example:8080/@x now',
      shown: 'see http://(redacted)@proxy.example:8080/@x now',
    },
    { text: '{"said":"{\\"bearer\\":\\"ab\\/cdef\\"}"}', shown: '{"said":"{\\"bearer\\":\\"(redacted)"}"}' },
    {
      text: 'NO: http://a.example,http://user:pass@b.example',
      shown: 'NO: http://a.example,http://(redacted)@b.example',
    },
    { text: 'amqps://user:pass@a.example:5671 is down', shown: 'amqps://(redacted)@a.example:5671 is down' },
    { text: '"https:\\/\\/user:pass@a.example\\/p"', shown: '"https:\\/\\/(redacted)@a.example\\/p"' },
    { text: 'Authorization: SharedAccessKey abc=', shown: 'Authorization: SharedAccessKey (redacted)' },
    { text: 'the token eyJhbGciOiJub25lIn0.eyJzdWIi.c2ln', shown: 'the token (redacted)' },
  ])('$text', ({ text, shown }) => {
    expect(hideSecrets(text, [])).toBe(shown)
  })
})

describe('the query of an endpoint', () => {
  it.each([
    { query: 'justakey', said: 'got justakey', shown: 'got (redacted)' },
    { query: 'code=a+b', said: 'got a b, a+b and a%20b', shown: 'got (redacted), (redacted) and (redacted)' },
    { query: 'code=a%2Bb', said: 'got a+b and a%2bb', shown: 'got (redacted) and (redacted)' },
    { query: 'k=x1', said: 'k=x1, n=x1, box1 and "x1"', shown: '(redacted), n=(redacted), box1 and "(redacted)"' },
    { query: 'k=%', said: '[%]', shown: '[(redacted)]' },
    { query: 'a=first&b=second', said: 'second first', shown: '(redacted) (redacted)' },
  ])('?$query', ({ query, said, shown }) => {
    expect(hideSecrets(said, querySecrets(`https://a.example/api/events?${query}`))).toBe(shown)
  })
})

it('shows one line of at most 1,000 characters, and leaves ordinary words alone', () => {
  expect(scrub('a\r\nb\u0000c', ['zz'])).toBe('a b c')
  expect(scrub('x'.repeat(2_000))).toHaveLength(1_001)
  expect(scrub(`${'x '.repeat(9_990)}${secret.repeat(9)}`, [secret])).toHaveLength(1_001)
  expect(scrub('100 % of it; what? 3 < 4 & "so" \\o/', [secret])).toBe('100 % of it; what? 3 < 4 & "so" \\o/')
})

it.each([[['orders-2025', 'orders-2025-b']], [['orders-2025-b', 'orders-2025']]])(
  'hides the whole of a secret that begins with another one: %j',
  (secrets) => {
    expect(hideSecrets('x orders-2025-b y', secrets)).toBe('x (redacted) y')
  },
)
