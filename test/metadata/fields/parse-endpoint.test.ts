import { describe, expect, it } from 'vitest'
import {
  isNamespaceTopic,
  parseNamespaceEndpoint,
  parseSubscriberEndpoint,
  parseTopicEndpoint,
} from '../../../src/metadata/fields/addresses.ts'

const broken = (rule: string) => expect.objectContaining({ rule: expect.stringContaining(rule) })
const parsers = { parseNamespaceEndpoint, parseSubscriberEndpoint, parseTopicEndpoint }
const longest = `https://app.example/${'a'.repeat(4_076)}`

describe.each(Object.entries(parsers))('%s', (_name, parse) => {
  it('takes 4,096 characters', () => expect(parse(longest)).toBe(longest))

  it.each([
    [`${longest}a`, 'at most 4096'],
    ['https://app.example/a b', 'white space'],
    ['https://app.example\\a', 'backslash'],
    ['https:/app.example', 'https URL'],
    ['https://', 'https URL'],
    ['https:app.example', 'https URL'],
    ['app.example', 'https URL'],
    ['ftp://app.example', 'https URL'],
    ['x https://app.example', 'white space'],
    ['xhttps://app.example', 'https URL'],
    ['https://u@app.example', 'user info'],
    ['https://@app.example', 'user info'],
    ['https://:p@app.example', 'user info'],
    ['https://{a}.example', 'braces'],
    ['https://app.example/#', 'fragment'],
    ['http://app.example', 'https URL'],
  ])('refuses %.30s: %s', (text, rule) => expect(() => parse(text)).toThrow(broken(rule)))
})

it.each([
  ['https://app.example/@', 'https://app.example/@'],
  ['https://app.example/{a}', 'https://app.example/%7Ba%7D'],
])('takes %s, where only the host may not have it', (text, expected) =>
  expect(parseSubscriberEndpoint(text)).toBe(expected),
)

it.each([
  'https://ns.example/topics/orders:publish',
  'https://ns.example/topics/orders:publish?x=1',
  'https://ns.example/topics',
  'https://ns.example/topics/',
  'https://ns.example/topics/a/b',
  'https://ns.example/x/topics/a',
])('takes the topic endpoint %s', (text) => expect(parseTopicEndpoint(text)).toBe(text))

it('refuses an endpoint of a namespace that would be for receiving', () => {
  for (const host of ['ns.westeurope-1.eventgrid.azure.net', 'localhost'])
    expect(() => parseTopicEndpoint(`https://${host}/TOPICS/orders/`)).toThrow(broken('must end in :publish'))
})

it.each([
  ['https://ns.example/topics/orders:publish', true],
  ['https://ns.example/TOPICS/orders:PUBLISH?x=1', true],
  ['https://ns.example/topics/orders', false],
  ['https://ns.example/topics/orders:publish/', false],
  ['https://ns.example/topics/:publish', false],
  ['https://ns.example/api/events', false],
  ['no URL', false],
])('tells whether %s is that of a namespace topic', (text, expected) => expect(isNamespaceTopic(text)).toBe(expected))
