import { expect, it } from 'vitest'
import { type DeliverySettings, deliverySettings } from '../../src/delivery/delivery-options.ts'

it('delivers as Event Grid does without options', () => {
  expect(deliverySettings()).toMatchObject({
    ...{
      answerTimeout: 30_000,
      retrySchedule: undefined,
      manualValidationTimeout: 600_000,
      deadLetterDelay: 300_000,
      storageQueues: undefined,
      functions: [],
    },
    ...{ probation: {}, concurrency: 64, maxPending: 1_000_000, maxPendingBytes: 268_435_456 },
  })
})

it('takes the least of each, and holds no endpoint back where the schedule is given', () => {
  const least = { concurrency: 1, maxPending: 1, maxPendingBytes: 1, deadLetterDelay: 0, manualValidationTimeout: 0 }
  expect(deliverySettings({ ...least, retrySchedule: [0] })).toMatchObject({
    ...least,
    retrySchedule: [0],
    probation: false,
  })
  const probation = { afterFailures: 1 }
  expect(deliverySettings({ retrySchedule: [0], probation })).toMatchObject({ probation })
})

it.each<Partial<DeliverySettings>>([
  { retrySchedule: [] },
  { retrySchedule: [1, -1] },
  { retrySchedule: [Number.POSITIVE_INFINITY] },
  { concurrency: 0 },
  { maxPending: 0 },
  { maxPendingBytes: 0 },
  { maxPending: Number.NaN },
  { deadLetterDelay: -1 },
  { manualValidationTimeout: -1 },
])('refuses %j', (options) => expect(() => deliverySettings(options)).toThrow(RangeError))

it('refuses a schedule that is no list', () => {
  // As JavaScript may call it.
  expect(() => deliverySettings({ retrySchedule: 5 as never })).toThrow(RangeError)
})
