import { expect, it } from 'vitest'
import { isDateTime } from '../../src/publisher/payload.ts'

it('knows the days of each month of four centuries', () => {
  const wrong: string[] = []
  for (let year = 1896; year < 2300; year++) {
    for (let month = 1; month <= 12; month++) {
      for (let day = 28; day <= 31; day++) {
        const date = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-')
        const isThere = new Date(Date.UTC(year, month - 1, day)).getUTCMonth() === month - 1
        if (isDateTime(`${date}T00:00:00Z`) !== isThere) wrong.push(date)
      }
    }
  }
  expect(wrong).toEqual([])
})

it.each([
  '2026-03-11T08:00:00Z',
  '2026-03-11t08:00:00z',
  '2026-03-11T08:00:00.123456789+14:00',
  '2016-12-31T23:59:60-08:30',
  '0000-02-29T23:59:59Z',
])('takes %s', (text) => {
  expect(isDateTime(text)).toBe(true)
})

it.each([
  '2026-00-11T08:00:00Z',
  '2026-13-11T08:00:00Z',
  '2026-03-00T08:00:00Z',
  '2026-03-11T24:00:00Z',
  '2026-03-11T08:60:00Z',
  '2026-03-11T08:00:61Z',
  '2026-03-11T08:00:00+24:00',
  '2026-03-11T08:00:00+01:60',
  '2026-03-11T08:00:00+0100',
  '2026-03-11T08:00:00.Z',
  '2026-03-11 08:00:00Z',
  '2026-03-11T08:00:00',
  ' 2026-03-11T08:00:00Z',
])('refuses %s', (text) => {
  expect(isDateTime(text)).toBe(false)
})

it('takes a time without a zone where any zone is fine', () => {
  expect(isDateTime('2026-03-11T08:00:00', { anyZone: true })).toBe(true)
})
