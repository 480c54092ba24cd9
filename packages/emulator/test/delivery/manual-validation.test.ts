import { describe, expect, it } from 'vitest'
import { sendArm } from '../../../../test/support/azure-clients.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { handshakeLine } from '../../src/cli/record-lines.ts'
import {
  type EventGridEmulator,
  type EventGridEmulatorOptions,
  type HandshakeRecord,
  ManualClock,
} from '../../src/index.ts'
import { grant, type SubscriberAnswer, startSubscriber } from '../subscriber.ts'

const minute = 60_000
const endpoint = 'https://subscriber.example/hook'
/** As Flask answers OPTIONS for each route that takes POST. */
const bare: SubscriberAnswer = { status: 200, headers: { allow: 'OPTIONS, POST' } }

async function open(options: EventGridEmulatorOptions) {
  const subscriber = await startSubscriber()
  subscriber.onHandshake(() => bare)
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 14, 7, 9))
  const ingress = [{ from: 'https://subscriber.example/', to: subscriber.url }]
  const emulator = await startEmulator({ clock, ingress, ...options })
  await emulator.idle()
  const state = () => emulator.eventSubscriptions().map(({ provisioningState }) => provisioningState)
  const asked = () => subscriber.requests.filter(({ method }) => method === 'OPTIONS').length
  const outcomes = () => emulator.records.handshakes.all().map(({ outcome, status }) => `${outcome} ${status}`)
  return { subscriber, clock, emulator, state, asked, outcomes }
}

const declared = { eventSubscriptions: [{ name: 'audit', endpoint }] }

async function put(emulator: EventGridEmulator, eventDeliverySchema = 'CloudEventSchemaV1_0') {
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: endpoint } }
  const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/made`
  const body = JSON.stringify({ properties: { destination, eventDeliverySchema } })
  expect((await sendArm(emulator, path, { method: 'PUT', body })).status).toBe(201)
  await emulator.idle()
}

const lineOf = (record: HandshakeRecord) => handshakeLine(record).map(({ text }) => text)
const words = ({ records }: EventGridEmulator) => records.handshakes.all().map((record) => lineOf(record).join(''))

describe('a handshake that is answered without the consent', () => {
  it.each([
    { schema: 'CloudEventSchemaV1_0', lacks: /WebHook-Allowed-Origin \(eventgrid\.azure\.net or \*\)/ },
    { schema: 'EventGridSchema', lacks: /validationResponse/ },
  ])('says what is missing on terminal and page, and until when it waits ($schema)', async ({ schema, lacks }) => {
    const { emulator } = await open({ topics: [{ name: 'orders', inputSchema: 'EventGridSchema' }] })
    await put(emulator, schema)
    expect(words(emulator)).toEqual([expect.stringMatching(lacks)])
    expect(words(emulator)[0]).toContain('1/5/2026 2:17:09 PM (UTC)')
    const page = Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json())
    expect(page.subscriptions[0]).toMatchObject({
      state: 'AwaitingManualAction',
      handshake: { message: expect.stringMatching(lacks) },
    })
  })

  it('is asked once by default, as Azure does, and terminal and records say so when its time is over', async () => {
    const { emulator, clock, state, asked, outcomes } = await open({})
    await put(emulator)
    await clock.advance(10 * minute)
    await emulator.idle()
    expect(state()).toEqual(['Failed'])
    expect(asked()).toBe(1)
    expect(outcomes()).toEqual(['awaiting-manual-action 200', 'failed 200'])
    expect(words(emulator)[1]).toContain('not called in time')
    const callback = emulator.records.handshakes.last?.requestHeaders['webhook-request-callback'] ?? ''
    expect((await fetch(callback.replace(emulator.endpoints.topics, emulator.proxy))).status).toBe(400)
  })

  it.each([
    { name: 'declared, with deliver', options: { deliver: { orders: '' } } },
    { name: 'declared, where the options ask for it', options: { ...declared, retryHandshakes: true } },
  ])('is offered again, and done when the endpoint is mended: $name', async ({ options }) => {
    const target = await startSubscriber()
    target.onHandshake(() => bare)
    const given = 'deliver' in options ? { deliver: { orders: `${target.url}/hook` } } : options
    const { emulator, clock, state, subscriber, outcomes } = await open(given)
    expect(state()).toEqual(['AwaitingManualAction'])
    await clock.advance(20_000)
    expect(state()).toEqual(['AwaitingManualAction'])
    // Restarted, it does not answer for a moment.
    for (const status of [503, 500]) {
      for (const one of [target, subscriber]) one.onHandshake(() => ({ status }))
      await clock.advance(5_000)
      expect(state()).toEqual(['AwaitingManualAction'])
    }
    for (const one of [target, subscriber]) one.onHandshake(grant)
    await clock.advance(5_000)
    await emulator.idle()
    expect(state()).toEqual(['Succeeded'])
    // The same answer again is no news.
    expect(outcomes()).toEqual(['awaiting-manual-action 200', 'failed 503', 'failed 500', 'validated 200'])
    const later = target.requests.length + subscriber.requests.length
    await clock.advance(minute)
    expect(target.requests.length + subscriber.requests.length).toBe(later)
  })

  it('is offered again for an event subscription made through Resource Manager where the options ask for it', async () => {
    const { emulator, clock, state, subscriber } = await open({ retryHandshakes: true })
    await put(emulator)
    expect(state()).toEqual(['AwaitingManualAction'])
    subscriber.onHandshake(grant)
    await clock.advance(5_000)
    await emulator.idle()
    expect(state()).toEqual(['Succeeded'])
  })

  it('is not offered again once its event subscription is changed or deleted', async () => {
    const { emulator, clock, asked } = await open({ retryHandshakes: true })
    await put(emulator)
    await put(emulator)
    const before = asked()
    await clock.advance(5_000)
    expect(asked()).toBe(before + 1)
    const path = `${emulator.topic().id}/providers/Microsoft.EventGrid/eventSubscriptions/made`
    await sendArm(emulator, path, { method: 'DELETE' })
    await emulator.idle()
    const after = asked()
    await clock.advance(11 * minute)
    expect(asked()).toBe(after)
  })

  it('waits as long as manualValidationTimeout says', async () => {
    const { emulator, clock, state } = await open({ manualValidationTimeout: 2_000 })
    await put(emulator)
    await clock.advance(1_999)
    expect(state()).toEqual(['AwaitingManualAction'])
    await clock.advance(1)
    await emulator.idle()
    expect(state()).toEqual(['Failed'])
  })
})

it('a failed handshake is not offered again where the options refuse that, and is where they ask for it', async () => {
  for (const { retryHandshakes, states } of [
    { retryHandshakes: false, states: ['Failed'] },
    { retryHandshakes: true, states: ['Succeeded'] },
  ]) {
    const { subscriber, clock, state, emulator } = await open({ retryHandshakes })
    subscriber.onHandshake(() => ({ status: 404 }))
    await put(emulator)
    expect(state()).toEqual(['Failed'])
    subscriber.onHandshake(grant)
    await clock.advance(5_000)
    await emulator.idle()
    expect(state()).toEqual(states)
  }
})

describe('an endpoint that fails all the time', () => {
  it('is asked once in an advance of the clock, however far that goes', async () => {
    const { subscriber, clock, emulator, state, asked } = await open({ retryHandshakes: true })
    subscriber.onHandshake(() => ({ status: 404 }))
    await put(emulator)
    for (const ms of [400 * 24 * 60 * minute, 60 * minute, 5_000]) {
      const before = asked()
      await clock.advance(ms)
      expect(asked()).toBe(before + 1)
    }
    subscriber.onHandshake(grant)
    await clock.advance(5_000)
    expect(state()).toEqual(['Succeeded'])
  })

  it('is told of once a minute, and at once when it answers something else', async () => {
    const { subscriber, clock, emulator, outcomes } = await open({ retryHandshakes: true })
    subscriber.onHandshake(() => ({ status: 404 }))
    await put(emulator)
    const advance = async (times: number) => {
      for (let time = 0; time < times; time++) await clock.advance(5_000)
    }
    await advance(11)
    expect(outcomes()).toEqual(['failed 404'])
    await advance(1)
    expect(outcomes()).toEqual(['failed 404', 'failed 404'])
    subscriber.onHandshake(() => ({ status: 503 }))
    await advance(2)
    expect(outcomes()).toEqual(['failed 404', 'failed 404', 'failed 503'])
  })
})
