import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { sasProblem } from '../../../src/emulator/topics/sas-token.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const now = Date.UTC(2026, 0, 5, 14, 7, 9)
const endpoint = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'
const expected = { keys: ['AAAA', key], host: 'orders.westeurope-1.eventgrid.azure.net', path: '/api/events', now }

const sign = (r: string, e: string, by = key) => {
  const text = `r=${r}&e=${e}`
  const s = createHmac('sha256', Buffer.from(by, 'base64')).update(text).digest('base64')
  return `${text}&s=${encodeURIComponent(s)}`
}
const encoded = (path = '', host = endpoint) => encodeURIComponent(`${host}${path}`)
/** .NET's UrlEncode: lower-case digits and a plus for a space. */
const dotNet = (text: string) =>
  encodeURIComponent(text)
    .replaceAll('%20', '+')
    .replaceAll(/%../g, (digits) => digits.toLowerCase())

it.each([
  {
    name: "the JavaScript SDK's form",
    token: sign(encoded('?apiVersion=2018-01-01'), encodeURIComponent('1/5/2026 3:07:09 PM')),
  },
  { name: ".NET's form", token: sign(dotNet(`${endpoint}?api-version=2018-01-01`), dotNet('1/5/2026 3:07:09 PM')) },
  {
    name: "Python's form",
    token: sign(encoded('?api-version=2018-01-01'), encodeURIComponent('2026-01-05 15:07:09.123456')),
  },
  { name: 'ISO time with a zone', token: sign(encoded(), encodeURIComponent('2026-01-05T16:07:09.1234567+01:00')) },
  { name: "Java's form, without zeros in front", token: sign(encoded(), encodeURIComponent('1/5/2026 3:7:9 PM')) },
  { name: 'no version', token: sign(encoded(), encodeURIComponent('1/5/2026 3:07:09 PM')) },
  {
    name: 'the host alone',
    token: sign(
      encoded('', 'https://orders.westeurope-1.eventgrid.azure.net'),
      encodeURIComponent('1/6/2026 12:00:00 AM'),
    ),
  },
  {
    name: 'the host in capitals',
    token: sign(encoded('', endpoint.toUpperCase()), encodeURIComponent('1/6/2026 12:00:00 AM')),
  },
  {
    name: 'a signature whose plus is not encoded',
    token: sign(encoded(), '1%2F6%2F2026%2012%3A00%3A00%20AM').replaceAll('%2B', '+'),
  },
])('accepts $name', ({ token }) => expect(sasProblem(token, expected)).toBeUndefined())

it.each([
  { name: 'no token', token: '', problem: 'format' },
  { name: 'no signature', token: `r=${encoded()}&e=1`, problem: 'format' },
  { name: 'a time that is none', token: sign(encoded(), 'tomorrow'), problem: 'format' },
  { name: 'a thirteenth month', token: sign(encoded(), encodeURIComponent('13/1/2026 3:07:09 PM')), problem: 'format' },
  { name: 'broken encoding', token: sign('%', '1'), problem: 'format' },
  {
    name: 'another key',
    token: sign(encoded(), encodeURIComponent('1/6/2026 3:07:09 PM'), 'BBBB'),
    problem: 'signature',
  },
  {
    name: 'a changed expiry',
    token: sign(encoded(), '2027').replace('e=2027', 'e=2026-01-06T00%3A00%3A00Z'),
    problem: 'signature',
  },
  {
    name: 'the same text encoded otherwise',
    token: sign(encoded(), encodeURIComponent('1/6/2026 3:07:09 PM')).replaceAll('%3A', '%3a'),
    problem: 'signature',
  },
  { name: 'the present second', token: sign(encoded(), encodeURIComponent('1/5/2026 2:07:09 PM')), problem: 'expired' },
  {
    name: 'noon taken for midnight',
    token: sign(encoded(), encodeURIComponent('1/5/2026 12:30:00 PM')),
    problem: 'expired',
  },
  {
    name: 'another host',
    token: sign(encoded('', 'https://others.example/api/events'), encodeURIComponent('1/6/2026 3:07:09 PM')),
    problem: 'resource',
  },
  {
    name: 'another path',
    token: sign(encoded('/more'), encodeURIComponent('1/6/2026 3:07:09 PM')),
    problem: 'resource',
  },
  { name: 'no URL', token: sign('orders', encodeURIComponent('1/6/2026 3:07:09 PM')), problem: 'resource' },
])('refuses $name: $problem', ({ token, problem }) => expect(sasProblem(token, expected)).toBe(problem))
