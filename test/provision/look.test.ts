import { expect, it } from 'vitest'
import type { PushMetadata } from '../../src/metadata/typed/metadata.ts'
import type { ProvisionTask, SubscriptionLook } from '../../src/provision/attempts.ts'
import { checkSubscriptions, inspectSubscriptions, planSubscriptions } from '../../src/provision/look.ts'
import { upsertSubscriptions } from '../../src/provision/upsert.ts'
import { refusal } from '../support/refusal.ts'
import { refused } from './fake-arm.ts'
import { inputMetadata, marked } from './input.ts'
import { openTarget } from './open-target.ts'
import { type Asked, type Properties, record } from './scripted-arm.ts'

const labelled = inputMetadata({ settings: { eventDeliverySchema: 'CloudEventSchemaV1_0', labels: ['ours'] } })
const isHidden = ({ method }: Asked) => method === 'POST'

/** An event subscription as the metadata ask, changed by somebody, and read by metadata that may differ. */
async function standing(change: (properties: Properties) => void, { mayReadHidden = true } = {}) {
  let isReady = false
  const { arm, time, log, failed, targetOf, taskOf } = await openTarget({
    once: (asked) => (isReady && !mayReadHidden && isHidden(asked) ? refused(403, 'AuthorizationFailed') : undefined),
  })
  await upsertSubscriptions(targetOf(inputMetadata()), taskOf())
  isReady = true
  if (arm.state.properties) change(arm.state.properties)
  const written = arm.writes().length
  return {
    ...{ arm, time, log, failed },
    check: (input: PushMetadata, how?: Partial<ProvisionTask>) => checkSubscriptions(targetOf(input), taskOf(how)),
    plan: (input: PushMetadata) => planSubscriptions(targetOf(input), taskOf()),
    inspect: (input: PushMetadata, detail: 'whole' | 'plain' = 'whole') =>
      inspectSubscriptions(targetOf(input), new AbortController().signal, detail),
    /** Nothing of this file writes. */
    writes: () => arm.writes().length - written,
  }
}

const nothing = () => {}
const withWebHook = (changes: Properties) => (properties: Properties) => {
  const destination = record(properties.destination)
  properties.destination = { ...destination, properties: { ...record(destination.properties), ...changes } }
}
const moved = withWebHook({ endpointUrl: 'https://old.example.com/api/events' })
const inState = (state: string) => (properties: Properties) => {
  properties.provisioningState = state
}
const failedState = inState('Failed')
const withoutCredential = withWebHook({ deliveryAttributeMappings: [] })

it.each<{
  what: string
  change: (properties: Properties) => void
  input?: PushMetadata
  differences: object | undefined
  /** By GET alone, where that shows less. */
  plainly?: object | undefined
}>([
  { what: 'as the metadata ask', change: nothing, differences: undefined },
  {
    what: 'other labels',
    change: nothing,
    input: labelled,
    differences: { problem: 'other labels', lacksCredential: false, isDown: false, isAway: false },
  },
  {
    what: 'another endpoint',
    change: moved,
    differences: {
      problem: 'it delivers to https://old.example.com/api/events, not to https://app.example.com/api/events',
      ...{ lacksCredential: false, isDown: false, isAway: true },
    },
  },
  {
    what: 'the state Failed',
    change: failedState,
    differences: { problem: expect.stringContaining('Failed'), lacksCredential: false, isDown: true, isAway: false },
  },
  { what: 'somebody who is changing it', change: inState('Updating'), differences: undefined },
  {
    what: 'no credential of ours',
    change: withoutCredential,
    differences: { problem: expect.any(String), lacksCredential: true, isDown: false, isAway: false },
  },
])('finds $what, by a poll and by a check alike, and writes nothing', async (row) => {
  const { what: _what, change, input = inputMetadata(), differences } = row
  const { inspect, check, writes, arm } = await standing(change)
  const looks: SubscriptionLook[] = []
  expect(await inspect(input)).toEqual({ kind: 'found', differences })
  const before = arm.asked.length
  expect(await inspect(input, 'plain')).toEqual({ kind: 'found', differences })
  expect(await check(input, { onLook: (look) => looks.push(look) })).toEqual({ action: 'found', differences })
  expect(arm.asked.slice(before).every(({ method }) => method === 'GET')).toBe(true)
  const delivers = change !== moved && change !== failedState
  expect(looks).toEqual([{ exists: true, delivers, lacksCredential: false }])
  expect(writes()).toBe(0)
})

it('takes what may not be read for what is wanted', async () => {
  const { inspect, plan } = await standing(nothing, { mayReadHidden: false })
  expect(await inspect(inputMetadata())).toEqual({ kind: 'found', differences: undefined })
  const [planned] = await plan(inputMetadata())
  expect(planned).toMatchObject({ action: 'keep', warnings: [expect.stringContaining('are not compared')] })
})

it('tells that the event subscription is missing, by a poll at once, by a check when its time is over', async () => {
  const { arm, inspect, check, failed, log, time } = await standing(nothing)
  arm.state.properties = undefined
  expect(await inspect(inputMetadata())).toEqual({ kind: 'missing', certain: true })
  const looks: SubscriptionLook[] = []
  const waiting = check(inputMetadata({ subscriptionTimeoutMs: 5_000 }), { onLook: (look) => looks.push(look) })
  const { code, fix } = await refusal(waiting)
  expect({ code, missing: failed.every(({ isMissing }) => isMissing) }).toEqual({ code: 'TIMEOUT', missing: true })
  expect(fix ?? log.join()).toContain('provision')
  expect(looks[0]).toEqual({ exists: false, delivers: false, lacksCredential: false })
  expect(time.waits.length).toBeGreaterThan(1)
})

it.each<{ what: string; change: (properties: Properties) => void; input?: PushMetadata; planned: object }>([
  { what: 'keep', change: nothing, planned: { action: 'keep', changes: [], warnings: [] } },
  {
    what: 'patch',
    change: nothing,
    input: labelled,
    planned: {
      action: 'patch',
      because: 'other labels',
      changes: [{ field: 'labels', after: ['ours'] }],
      warnings: [],
    },
  },
  {
    what: 'move',
    change: moved,
    planned: { action: 'patch', warnings: [expect.stringContaining('moving the event subscription')] },
  },
  { what: 'wait', change: inState('Updating'), planned: { action: 'wait', because: 'it is Updating', changes: [] } },
  {
    what: 'refuse',
    change(properties) {
      properties.destination = { endpointType: 'EventHub', properties: { resourceId: '/hub' } }
    },
    planned: { action: 'refuse', because: expect.stringContaining('EventHub'), fix: expect.any(String), changes: [] },
  },
])('plans to $what, shows no secret, and writes nothing', async ({ change, input = inputMetadata(), planned }) => {
  const { plan, writes } = await standing(change)
  const plans = await plan(input)
  expect(plans).toMatchObject([{ id: expect.stringContaining('/eventSubscriptions/events1'), ...planned }])
  for (const secret of marked) expect(JSON.stringify(plans)).not.toContain(secret)
  expect(writes()).toBe(0)
})

it('plans to create what does not exist', async () => {
  const { arm, plan } = await standing(nothing)
  arm.state.properties = undefined
  expect(await plan(inputMetadata())).toMatchObject([{ action: 'create', because: 'there is none' }])
})
