import { expect, it } from 'vitest'
import { readRetryAfter } from '../../src/azure/http.ts'

const now = Date.parse('2026-03-11T08:00:00Z')

it.each([
  { headers: { 'retry-after': '7' }, expected: 7_000 },
  { headers: { 'retry-after': ' 0 ' }, expected: 0 },
  { headers: { 'retry-after': 'Wed, 11 Mar 2026 08:00:09 GMT' }, expected: 9_000 },
  { headers: { 'retry-after': 'Wednesday, 11-Mar-26 08:00:09 GMT' }, expected: 9_000 },
  { headers: { 'retry-after': 'Wed Mar 11 08:00:09 2026 GMT' }, expected: 9_000 },
  { headers: { 'retry-after': 'Wed, 11 Mar 2026 07:00:00 GMT' }, expected: 0 },
  { headers: { 'retry-after-ms': '250', 'retry-after': '7' }, expected: 250 },
  { headers: { 'x-ms-retry-after-ms': '40', 'retry-after': '7' }, expected: 40 },
  { headers: { 'retry-after-ms': 'soon', 'retry-after': '7' }, expected: 7_000 },
  { headers: { 'retry-after-ms': ' 9999999999 ' }, expected: 9_999_999_999 },
  { headers: { 'retry-after-ms': '99999999999' }, expected: undefined },
  { headers: { 'retry-after-ms': 'x250' }, expected: undefined },
  { headers: { 'retry-after-ms': '250x' }, expected: undefined },
  { headers: { 'retry-after': '999999999' }, expected: 999_999_999_000 },
  { headers: { 'retry-after': '9999999999' }, expected: undefined },
  { headers: { 'retry-after': '2026-03-11T08:00:09Z' }, expected: undefined },
  { headers: { 'retry-after': 'wed, 11 Mar 2026 08:00:09 GMT' }, expected: undefined },
  { headers: { 'retry-after': 'at Wed, 11 Mar 2026 08:00:09 GMT' }, expected: undefined },
  { headers: { 'retry-after': 'Never, ever' }, expected: undefined },
  { headers: { 'retry-after': '-1' }, expected: undefined },
  { headers: { 'retry-after': '1.5' }, expected: undefined },
  { headers: { 'retry-after': 'soon' }, expected: undefined },
  { headers: { 'retry-after': '' }, expected: undefined },
  { headers: {}, expected: undefined },
])('an answer with $headers asks for $expected ms', ({ headers, expected }) => {
  const held = new Map<string, string>(Object.entries(headers))
  expect(readRetryAfter((name) => held.get(name), now)).toBe(expected)
})
