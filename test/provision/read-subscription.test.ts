/** Which calls a read of an event subscription makes, and what is read by them. */
import { expect, it } from 'vitest'
import { lookUp, readSubscription } from '../../src/provision/arm-subscription.ts'
import { placeAt, subscriptionIdOf } from '../../src/provision/decide.ts'
import { readAttributes, webHookOf } from '../../src/provision/values.ts'
import { refused } from './fake-arm.ts'
import { inputMetadata } from './input.ts'
import { openTarget } from './open-target.ts'
import type { Answer, Asked, Json } from './scripted-arm.ts'

const place = placeAt(inputMetadata().scope, 'events1')
const limits = () => ({ signal: new AbortController().signal, deadline: Number.MAX_SAFE_INTEGER })

async function open(properties?: Record<string, Json>, once?: (asked: Asked) => Answer | undefined) {
  const { arm, targetOf } = await openTarget({ once })
  if (properties) arm.write({ properties })
  const { arm: connection } = targetOf(inputMetadata())
  /** The calls, each by the last part of its path. */
  const calls = () => arm.asked.map(({ method, path }) => `${method} ${path.split('/').at(-1)}`)
  return { arm, connection, calls }
}

const attribute = (name: string, value: string, isSecret = false) => ({
  name,
  type: 'Static',
  properties: { value, isSecret },
})
const webHook = (...attributes: Json[]) => ({
  destination: {
    endpointType: 'WebHook',
    properties: { endpointUrl: 'https://app.example.com/?code=1', deliveryAttributeMappings: attributes },
  },
})
const hub = { destination: { endpointType: 'EventHub', properties: { resourceId: '/hub' } } }
const get = 'GET events1'
const url = 'POST getFullUrl'
const hidden = 'POST getDeliveryAttributes'

const told = attribute('a', 'one')
const secret = attribute('b', 'two', true)

it.each([
  { name: 'without attributes', attributes: [], calls: [get, url] },
  { name: 'with a value that is told', attributes: [told], calls: [get, url] },
  { name: 'with a secret value', attributes: [told, secret], calls: [get, url, hidden, get] },
])('reads the whole of a web hook $name by $calls', async ({ attributes, calls: expected }) => {
  const { connection, calls } = await open(webHook(...attributes))
  const found = await readSubscription(connection, place, limits())
  expect(calls().sort()).toEqual([...expected].sort())
  const { endpointUrl, deliveryAttributeMappings } = webHookOf(found ?? {}) ?? {}
  expect(endpointUrl).toBe('https://app.example.com/?code=1')
  expect(deliveryAttributeMappings).toEqual(readAttributes({ value: attributes }))
})

it('reads the whole of an event hub by one call', async () => {
  const { connection, calls } = await open(hub)
  await readSubscription(connection, place, limits())
  expect(calls()).toEqual([get])
})

it('reads by one call where nothing hidden is wanted', async () => {
  const { connection, calls } = await open(webHook(secret))
  expect(await lookUp(connection, place, limits(), 'plain')).toMatchObject({ kind: 'found' })
  expect(calls()).toEqual([get])
})

const noSuch = refused(404, 'ResourceNotFound')
/** The event subscription is answered 404, and the list of its source so. */
const openMissing = (list: Answer) => open(undefined, ({ path }) => (path.endsWith('/events1') ? noSuch : list))
const listed = (...names: string[]) => ({
  status: 200,
  body: { value: names.map((name) => ({ id: subscriptionIdOf({ ...place, name }), name })) },
})

it.each<[name: string, list: Answer, found: object]>([
  ['that has it not', listed('other'), { kind: 'missing', certain: true }],
  ['that is empty', listed(), { kind: 'missing', certain: true }],
  ['that may not be read', refused(403, 'AuthorizationFailed'), { kind: 'missing', certain: false }],
  ['of a source that is missing', noSuch, { kind: 'missing', certain: false }],
])('a 404 beside a list %s', async (_name, list, found) => {
  const { connection } = await openMissing(list)
  expect(await lookUp(connection, place, limits(), 'whole')).toEqual(found)
})

it.each<[name: string, list: Answer, says: string]>([
  ['that has it', listed('other', 'EVENTS1'), 'is listed, and said not to exist'],
  ['with an entry that is no record', { status: 200, body: { value: [5] } }, 'not a list of event subscriptions'],
  ['with an entry without id', { status: 200, body: { value: [{ name: 'a' }] } }, 'not a list of event subscriptions'],
  ['with an entry without name', { status: 200, body: { value: [{ id: 'a' }] } }, 'not a list of event subscriptions'],
])('a 404 beside a list %s is not believed', async (_name, list, says) => {
  const { connection } = await openMissing(list)
  const failure = { kind: 'answerUnread', message: expect.stringContaining(says) }
  await expect(lookUp(connection, place, limits(), 'whole')).rejects.toMatchObject({ failure })
})

it('a 404 beside a list that fails is a failure of the list', async () => {
  const { connection } = await openMissing(refused(503, 'ServiceUnavailable'))
  await expect(lookUp(connection, place, limits(), 'whole')).rejects.toMatchObject({ statusCode: 503 })
})

it.each([
  { name: 'attributes are no list', of: hidden, body: 'no', says: 'it is not a list of delivery attributes' },
  { name: 'URL is no text', of: url, body: { endpointUrl: 5 }, says: 'it is not the URL of an endpoint' },
])('is not taken for whole where the hidden $name', async ({ of, body, says }) => {
  const { connection } = await open(webHook(secret), ({ method, path }) =>
    `${method} ${path.split('/').at(-1)}` === of ? { status: 200, body } : undefined,
  )
  const failure = { kind: 'answerUnread', message: expect.stringContaining(says) }
  await expect(readSubscription(connection, place, limits())).rejects.toMatchObject({ failure })
})
