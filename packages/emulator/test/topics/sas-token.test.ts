import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { sasProblem } from '../../src/topics/authorize-publish.ts'

const key = Buffer.alloc(32, 1).toString('base64')
const now = Date.UTC(2026, 0, 5, 14, 7, 9)
const endpoint = 'https://orders.westeurope-1.eventgrid.azure.net/api/events'
const expected = { keys: ['AAAA', key], host: 'orders.westeurope-1.eventgrid.azure.net', path: '/api/events', now }

const inQuery = encodeURIComponent
/** A token for a resource and an expiry as they stand in its text. */
const signed = (r: string, e: string, by = key) => {
  const text = `r=${r}&e=${e}`
  const s = createHmac('sha256', Buffer.from(by, 'base64')).update(text).digest('base64')
  return `${text}&s=${inQuery(s)}`
}
const sign = (expiry: string, resource = endpoint, by = key) => signed(inQuery(resource), inQuery(expiry), by)
/** .NET's UrlEncode: lower-case digits and a plus for a space. */
const dotNet = (text: string) =>
  inQuery(text)
    .replaceAll('%20', '+')
    .replaceAll(/%../g, (digits) => digits.toLowerCase())
const version = '?api-version=2018-01-01'
const inAnHour = '1/5/2026 3:07:09 PM'
const tomorrow = '1/6/2026 3:07:09 PM'

it.each([
  ["the JavaScript SDK's form", sign(inAnHour, `${endpoint}?apiVersion=2018-01-01`)],
  [".NET's form", signed(dotNet(endpoint + version), dotNet(inAnHour))],
  ["Python's form", sign('2026-01-05 15:07:09.123456', endpoint + version)],
  ['ISO time with a zone', sign('2026-01-05T16:07:09.1234567+01:00')],
  ["Java's form, without zeros in front", sign('1/5/2026 3:7:9 PM')],
  ['no version', sign(inAnHour)],
  ['the host alone', sign('1/6/2026 12:00:00 AM', 'https://orders.westeurope-1.eventgrid.azure.net')],
  ['the host in capitals', sign('1/6/2026 12:00:00 AM', endpoint.toUpperCase())],
  ['a signature whose plus is not encoded', sign('1/6/2026 12:00:00 AM').replaceAll('%2B', '+')],
])('accepts %s', (_, token) => expect(sasProblem(token, expected)).toBeUndefined())

it.each([
  ['no token', '', 'format'],
  ['no signature', `r=${inQuery(endpoint)}&e=1`, 'format'],
  ['a time that is none', sign('tomorrow'), 'format'],
  ['a thirteenth month', sign('13/1/2026 3:07:09 PM'), 'format'],
  ['broken encoding', signed('%', '1'), 'format'],
  ['another key', sign(tomorrow, endpoint, 'BBBB'), 'signature'],
  ['a changed expiry', sign('2027').replace('e=2027', 'e=2026-01-06T00%3A00%3A00Z'), 'signature'],
  ['the same text encoded otherwise', sign(tomorrow).replaceAll('%3A', '%3a'), 'signature'],
  ['the present second', sign('1/5/2026 2:07:09 PM'), 'expired'],
  ['noon taken for midnight', sign('1/5/2026 12:30:00 PM'), 'expired'],
  ['another host', sign(tomorrow, 'https://others.example/api/events'), 'resource'],
  ['another path', sign(tomorrow, `${endpoint}/more`), 'resource'],
  ['no URL', sign(tomorrow, 'orders'), 'resource'],
])('refuses %s', (_, token, problem) => expect(sasProblem(token, expected)).toBe(problem))
