import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideSecrets, querySecrets, scrub } from '../../src/core/scrub.ts'
import { decodedTexts } from '../../src/core/spellings.ts'

/** Characters that each encoding writes in its own way. */
const secret = 'k3y+/Zs"<&>\' ä€😀%41\\n=='

const inUrl = (text: string) => encodeURIComponent(text)
const lowered = (text: string) => inUrl(text).replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())
const inForm = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0')
/** Writes each unit of UTF-16, each byte of UTF-8, or each character. */
const eachUnit = (text: string, write: (code: number) => string) =>
  Array.from({ length: text.length }, (_, index) => write(text.charCodeAt(index))).join('')
const eachByte = (text: string, write: (byte: number) => string) => Array.from(Buffer.from(text), write).join('')
const eachPoint = (text: string, write: (point: number) => string) =>
  Array.from(text, (one) => write(one.codePointAt(0) ?? 0)).join('')
const units = (text: string, prefix: string) => eachUnit(text, (code) => prefix + hex(code, 4))
const named: Readonly<Record<string, string>> = { '"': '&quot;', '<': '&lt;', '&': '&amp;', '>': '&gt;', "'": '&apos;' }

const spellings: readonly { readonly name: string; readonly write: (text: string) => string }[] = [
  { name: 'raw', write: (text) => text },
  { name: 'URL-encoded', write: inUrl },
  { name: 'URL-encoded in lower case', write: lowered },
  { name: 'URL-encoded, each byte', write: (text) => eachByte(text, (byte) => `%${hex(byte, 2)}`) },
  { name: 'form-encoded', write: inForm },
  { name: 'URL-encoded twice', write: (text) => inUrl(inUrl(text)) },
  { name: 'URL-encoded three times', write: (text) => inUrl(inUrl(inUrl(text))) },
  { name: 'in JSON', write: inJson },
  { name: 'in JSON with \\/', write: (text) => inJson(text).replaceAll('/', '\\/') },
  {
    name: 'in JSON as .NET escapes it',
    write: (text) => inJson(text).replace(/[+<>&']/g, (one) => units(one, '\\u').toUpperCase().replace('U', 'u')),
  },
  { name: 'in JSON, each unit escaped', write: (text) => units(text, '\\u') },
  { name: 'in JSON within JSON', write: (text) => inJson(inJson(text)) },
  { name: 'in a script with \\x', write: (text) => inJson(text).replaceAll('+', '\\x2B') },
  { name: 'in HTML', write: (text) => text.replace(/["<&>']/g, (one) => named[one] ?? one) },
  { name: 'in HTML by number', write: (text) => eachPoint(text, (point) => `&#${point};`) },
  { name: 'in HTML by hexadecimal number', write: (text) => eachPoint(text, (point) => `&#x${hex(point, 1)};`) },
  { name: 'in HTML twice', write: (text) => text.replace(/["<&>'+]/g, (one) => `&amp;#${one.codePointAt(0)};`) },
  { name: 'in base64', write: (text) => Buffer.from(text).toString('base64') },
  { name: 'in base64 of a URL', write: (text) => Buffer.from(text).toString('base64url') },
  { name: 'in base64, URL-encoded', write: (text) => inUrl(Buffer.from(text).toString('base64')) },
  { name: 'in hexadecimal', write: (text) => Buffer.from(text).toString('hex') },
  { name: 'in hexadecimal capitals', write: (text) => Buffer.from(text).toString('hex').toUpperCase() },
  { name: 'split by line breaks', write: (text) => text.replaceAll('/', '/\r\n\t') },
  {
    name: 'in base64 with line breaks',
    write: (text) =>
      Buffer.from(text)
        .toString('base64')
        .replace(/.{12}(?=.{12})/g, '$&\n'),
  },
  { name: 'URL-encoded in JSON', write: (text) => inJson(inUrl(text)) },
  { name: 'in JSON, URL-encoded', write: (text) => inUrl(inJson(text)) },
]

it.each(spellings)('hides a secret $name', ({ write }) => {
  expect(hideSecrets(`it said [${write(secret)}] to us`, [secret])).toMatch(
    /^it said \[\(redacted\)(?:.?=*|.?(%3D)*)\] to us$/,
  )
})

it.each(['%EF%BF%BD', '%E2%82', '%F0%9F%98', '%FF%FE'])('hides a secret after %s in a URL', (before) => {
  const written = Buffer.from('a secret').toString('hex').replace(/../g, '%$&')
  expect(hideSecrets(`[${before}${written}]`, ['a secret'])).toBe(`[${before}(redacted)]`)
})

it.each([
  { name: 'an indented line of a form', said: 'k=one%0D%0A++++two', secret: 'onetwo' },
  { name: 'a line that begins with a plus', said: 'k=one\r\n+two', secret: 'one+two' },
  { name: 'a pair of surrogates by number', said: 'k=one&#55357;&#56832;&#xd83d;&#XDE00;', secret: 'one😀😀' },
  { name: 'a backslash at the end', said: '"k=%6fne\\"', secret: 'one\\' },
  { name: 'a Windows path', said: '{"k":"C:\\\\new\\\\x41"}', secret: 'C:\\new\\x41' },
  { name: 'what looks like an entity', said: 'k=a%26lt%3Bb', secret: 'a&lt;b' },
])('hides $name', ({ said, secret: any }) => {
  expect(hideSecrets(said, [any])).not.toMatch(/ne|two|a%26/)
})

it('hides a key that lacks its padding', () => {
  expect(hideSecrets('it said [c2VjcmV0LWtleQ]', ['c2VjcmV0LWtleQ=='])).toBe('it said [(redacted)]')
})

it.each([0, 1, 2, 3, 4])('hides a secret within base64 that begins %i bytes before it', (before) => {
  const text = Buffer.from(`${'u'.repeat(before)}${secret}:more`).toString('base64')
  const left = hideSecrets(text, [secret]).replace('(redacted)', '')
  expect(left.length).toBeLessThan(Buffer.from(`${'u'.repeat(before)}:more`).toString('base64').length + 3)
  expect(hideSecrets(text, [secret])).toContain('(redacted)')
})

it('hides any secret in any chain of spellings', () => {
  const chain = fc.array(fc.constantFrom(inUrl, lowered, inForm, inJson), { maxLength: 3 })
  fc.assert(
    fc.property(fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme' }), chain, (any, writers) => {
      fc.pre(any.trim() === any && !/redacted/.test(any))
      const written = writers.reduce((text, write) => write(text), any)
      expect(hideSecrets(`[${written}]`, [any])).toBe('[(redacted)]')
    }),
    { numRuns: 300 },
  )
})

/** Names of the HTML standard for characters of keys and passwords; it has one for each but letters and digits. */
const entityNames: Readonly<Record<string, string>> = {
  ...{ '+': 'plus', '/': 'sol', '=': 'equals', _: 'lowbar', '.': 'period', '!': 'excl', '#': 'num' },
  ...{ $: 'dollar', '%': 'percnt', '&': 'amp', '(': 'lpar', ')': 'rpar', '*': 'ast', ':': 'colon', ';': 'semi' },
  ...{ '?': 'quest', '@': 'commat', '[': 'lbrack', '\\': 'bsol', ']': 'rbrack', '^': 'Hat', '`': 'grave', '{': 'lcub' },
  ...{ '|': 'vert', '}': 'rcub', '"': 'quot', "'": 'apos', '<': 'lt', '>': 'GT', ',': 'comma' },
}

/** A family of spellings of one character. */
const families: readonly ((character: string) => string)[] = [
  (one) => eachByte(one, (byte) => `%${hex(byte, 2)}`),
  (one) => eachByte(one, (byte) => `\\x${hex(byte, 2).toUpperCase()}`),
  (one) => units(one, '\\u'),
  (one) => units(one, '%u').toUpperCase().replaceAll('U', 'u'),
  (one) => eachPoint(one, (point) => `\\u{${hex(point, 1)}}`),
  (one) => eachPoint(one, (point) => `\\u{000${hex(point, 1).toUpperCase()}}`),
  (one) => eachPoint(one, (point) => `\\U${hex(point, 8)}`),
  (one) => eachByte(one, (byte) => `\\${byte.toString(8).padStart(3, '0')}`),
  (one) => eachPoint(one, (point) => `&#${point};`),
  (one) => eachPoint(one, (point) => `&#00000${point};`),
  (one) => eachPoint(one, (point) => `&#X${hex(point, 1)};`),
  (one) => (entityNames[one] === undefined ? `&#${one.codePointAt(0)};` : `&${entityNames[one]};`),
  (one) => eachUnit(one, (code) => `&#${code};`),
  (one) => eachUnit(one, (code) => `&#x${hex(code, 1)};`),
  (one) => inJson(one),
  (one) => (one === ' ' ? '+' : inUrl(one)),
  // A bare backslash beside other escapes would take away what follows.
  (one) => (one === '\\' ? '&bsol;' : one),
]

/** What wraps a long value, and indents what follows. */
const wraps = ['\n', '\r\n', '\n\t', '\r\n    ', '\r'] as const

/** Ways to write a text as a whole. */
const wholes: readonly ((text: string) => string)[] = [
  (text) => text,
  inUrl,
  inForm,
  inJson,
  (text) => text.replace(/[^\w]/gu, (one) => `&#${one.codePointAt(0)};`),
  (text) => text.replace(/["<&>']/g, (one) => named[one] ?? one),
  (text) => Buffer.from(text).toString('base64'),
  (text) => Buffer.from(`some text before ${text}`).toString('base64url'),
  (text) => Buffer.from(text, 'utf16le').toString('base64'),
  (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16().toString('base64'),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(text, 'utf16le').toString('hex').toUpperCase(),
  (text) =>
    Buffer.from(text)
      .toString('hex')
      .replace(/..(?=.)/g, '$&:'),
  (text) => eachByte(text, (byte) => `=${hex(byte, 2).toUpperCase()}`).replace(/(?:.{3}){20}/g, '$&=\r\n'),
]

/** Letters and signs of keys and passwords, and some of other alphabets. */
const secretText = fc.string({
  unit: fc.constantFrom(...'abnuxXYZ019+/=_-.!#$%&()*:;?@[\\]^`{|}"\'<>,~ äß€語😀'),
  minLength: 6,
  maxLength: 24,
})

/** A blank after a line break may be an indent. JSON doubles a backslash that an escape wrote, and one that begins an escape, alike. */
const isDefinite = (any: string, wrapAt: number, outer: (text: string) => string) =>
  Array.from(any)[wrapAt] !== ' ' && !(outer === inJson && any.includes('\\'))

it('hides any secret whose characters are each written in another way, within any whole, and leaves the rest', () => {
  const asked = fc.record({
    secret: secretText,
    ways: fc.array(fc.nat(families.length - 1), { minLength: 24, maxLength: 24 }),
    wrapAt: fc.nat(24),
    wrap: fc.constantFrom(...wraps),
    outer: fc.constantFrom(...wholes),
  })
  fc.assert(
    fc.property(asked, ({ secret: any, ways, wrapAt, wrap, outer }) => {
      fc.pre(any.trim() === any && isDefinite(any, wrapAt, outer))
      const pieces = Array.from(any, (one, at) => families[ways[at] ?? 0]?.(one) ?? one)
      const wrapped = wrapAt < pieces.length ? pieces.toSpliced(wrapAt, 0, wrap) : pieces
      const written = wrapped.join('')
      const shown = hideSecrets(`before "${outer(written)}" after`, [any])
      expect(shown).toMatch(/^before ".*\(redacted\).*" after$/s)
      // What is left of the spelling is the text before it, or the other bits of a character of base64.
      expect(shown.length).toBeLessThan('before "" after'.length + '(redacted)'.length + 40)
    }),
    { numRuns: 500, seed: 52 },
  )
})

it('leaves a text alone that has no secret in it, however it is encoded', () => {
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

it.each([
  ...['%', '%41', '\\', '\\u{', '\\u{0', '\\101', '&', '&#0', '&a', '&#55357;', '&amp;', '=', '=4', '=41'],
  ...['A', 'QUJD', '41', '4 ', 'https://a?', '\n', '\n+', '\n \t+', '+'],
])('decodes no more than some characters for each of a text of many %j', (part) => {
  const text = part.repeat(20_000 / part.length)
  const decoded = decodedTexts(text, 5).reduce((sum, layer) => sum + layer.text.length, 0)
  expect(decoded).toBeLessThan(30 * text.length)
  expect(hideSecrets(`${text} k3Y-of-ours ${text}`, ['k3Y-of-ours'])).toContain(' (redacted) ')
})

describe('without knowing them, hides', () => {
  it.each([
    { text: 'see https://a.example/p?code=x&y#z now', shown: 'see https://a.example/p?(redacted) now' },
    { text: 'see https://a.example/p#token now', shown: 'see https://a.example/p#(redacted) now' },
    { text: '"https:\\/\\/a.example\\/p?code=x"', shown: '"https:\\/\\/a.example\\/p?(redacted)"' },
    { text: 'location: /login?rd=%2Fapi%3Fcode%3Dx', shown: 'location: /login?(redacted)' },
    { text: 'rd=%2Fapi%2Fevents%3Fcode%3Dx', shown: 'rd=%2Fapi%2Fevents%3F(redacted)' },
    { text: 'authorization: Bearer abcdef', shown: 'authorization: Bearer (redacted)' },
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
