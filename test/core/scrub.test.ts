import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideSecrets, querySecrets, scrub } from '../../src/core/scrub.ts'

/** Characters that each encoding writes in its own way. */
const secret = 'k3y+/Zs"<&>\' ä€😀%41\\n=='

const inUrl = (text: string) => encodeURIComponent(text)
const lowered = (text: string) => inUrl(text).replace(/%[\dA-F]{2}/g, (byte) => byte.toLowerCase())
const inForm = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
const codes = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
const units = (text: string, prefix: string) =>
  codes(text)
    .map((code) => prefix + code.toString(16).padStart(4, '0'))
    .join('')
const named: Readonly<Record<string, string>> = { '"': '&quot;', '<': '&lt;', '&': '&amp;', '>': '&gt;', "'": '&apos;' }

const spellings: readonly { readonly name: string; readonly write: (text: string) => string }[] = [
  { name: 'raw', write: (text) => text },
  { name: 'URL-encoded', write: inUrl },
  { name: 'URL-encoded in lower case', write: lowered },
  { name: 'URL-encoded, each byte', write: (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&') },
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
  { name: 'in HTML by number', write: (text) => Array.from(text, (one) => `&#${one.codePointAt(0)};`).join('') },
  {
    name: 'in HTML by hexadecimal number',
    write: (text) => Array.from(text, (one) => `&#x${one.codePointAt(0)?.toString(16)};`).join(''),
  },
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
