import { describe, expect, it } from 'vitest'
import { Secret } from '../../../src/core/secret.ts'
import { showUrl } from '../../../src/metadata/fields/addresses.ts'
import { everyFieldName, isPrintable, metadataFields, showValue } from '../../../src/metadata/fields/find-field.ts'

it('keeps an URL with user info, query or fragment from being printed as plain text', () => {
  const urls = ['https://a.example/p', 'https://u@a.example/p', 'https://a.example/p?x', 'https://a.example/p#x']
  expect(urls.map((url) => isPrintable('topicEndpoint', url))).toEqual([true, false, false, false])
})

describe('showValue', () => {
  it.each(metadataFields.filter(({ secret }) => secret).flatMap(({ name, aliases }) => [name, ...aliases]))(
    'redacts the secret field %s',
    (name) => expect(showValue(name, 'MARKED')).toBe('(redacted)'),
  )

  it.each(['unknown', '__proto__', 'constructor', ''])('redacts the name %j, which nobody thought about', (name) =>
    expect(showValue(name, 'MARKED')).toBe('(redacted)'),
  )

  it('redacts a Secret whatever its field', () => expect(showValue('scope', new Secret('MARKED'))).toBe('(redacted)'))

  it('quotes and cuts what may be shown', () => {
    expect(showValue('scope', 'a"b\n')).toBe('"a\\"b\\n"')
    expect(showValue('scope', 'x'.repeat(300))).toBe(`"${'x'.repeat(200)}…"`)
    expect(showValue('handshakePort', 9000)).toBe('9000')
  })

  it.each([
    ['a list', ['x'], '(a list)'],
    ['an object', { x: 1 }, '(an object)'],
    ['null', null, 'null'],
  ])('calls %s what it is', (_, value, shown) => expect(showValue('scope', value)).toBe(shown))
})

describe('showUrl', () => {
  it.each([
    ['https://app.example/api/events', 'https://app.example/api/events'],
    ['https://app.example/a?code=MARKED', 'https://app.example/a?(redacted)'],
    ['https://u:MARKED@app.example/a#MARKED', 'https://(redacted)@app.example/a'],
    ['https://MARKED:p?MARKED@host', '(redacted)'],
    ['app.example/a?MARKED', 'app.example/a?(redacted)'],
    ['mailto:MARKED@app.example', '(redacted)'],
    ['x:y?MARKED', 'x:y?(redacted)'],
  ])('shows %s as %s', (url, shown) => expect(showUrl(url)).toBe(shown))
})

describe('the table of fields', () => {
  it('has no name twice', () => {
    expect(new Set(everyFieldName.map((name) => name.toLowerCase())).size).toBe(everyFieldName.length)
  })

  it('shows no field that is secret, and gives every required one no default', () => {
    expect(metadataFields.filter(({ secret, shown }) => secret && shown !== 'redacted')).toEqual([])
    expect(metadataFields.filter(({ required, default: text }) => required && text !== undefined)).toEqual([])
  })
})
