import { describe, expect, it } from 'vitest'
import { createManualClock } from '../support/manual-clock.ts'
import { bySecrets, cloudEventText, credentialFrom, inputMetadata, openListener, ours } from './open-listener.ts'

const other = credentialFrom('another secret')

const counted = (which: 'strangers' | 'answered', status: number) => ({
  strangers: {},
  answered: {},
  [which]: { [status]: 1 },
})
const otherEnd = `${ours.keyId}.${other.text.split('.')[1]}`

describe('a delivery under secret', () => {
  // What else a token may be is in test/attack/tokens.test.ts.
  it.each<[name: string, token: string | undefined, subscription: string | undefined, status: number]>([
    ['our token', ours.text, 'ORDERS', 200],
    ['our token and our name in another case', ours.text, 'oRdErS', 200],
    ['no token, for our subscription', undefined, 'Orders', 503],
    ['no token, for our subscription twice', undefined, 'ORDERS, ORDERS', 503],
    ['no token, for our subscription and another', undefined, 'ORDERS,A', 401],
    ['no token and no subscription', undefined, undefined, 401],
    ['our key id and another token', otherEnd, 'ORDERS', 401],
  ])('with %s is answered as it should be', async (_name, token, subscription, status) => {
    const { deliver, events } = await openListener()
    const headers = { 'X-EventGrid-Binding-Token': token, 'aeg-subscription-name': subscription }
    const answer = await deliver(cloudEventText('1'), headers)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe(status === 503 ? '30' : null)
    expect(answer.headers.has('www-authenticate')).toBe(status === 401)
    expect(events).toHaveLength(status === 200 ? 1 : 0)
  })

  const [ofStranger, ofOurs, ofSender] = [
    { total: 0, bad: 0 },
    { total: 1, bad: 1 },
    { total: 1, bad: 0 },
  ]
  it.each<
    [name: string, given: { subscription?: string; token?: string; path?: string }, counts: object, recent: object]
  >([
    ['without a credential and a name', {}, counted('strangers', 401), ofStranger],
    [
      'of another event subscription',
      { subscription: 'INVOICES', token: other.text },
      counted('strangers', 401),
      ofStranger,
    ],
    ['to another path', { path: '/admin' }, counted('strangers', 404), ofStranger],
    ['that names ours to another path', { subscription: 'orders', path: '/admin' }, counted('answered', 404), ofOurs],
    ['that names ours', { subscription: 'ORDERS' }, counted('answered', 503), ofOurs],
    ['with our key id and another token', { token: `${ours.keyId}.x` }, counted('answered', 401), ofOurs],
    ['with our token and no event', { token: ours.text }, counted('answered', 400), ofSender],
  ])('counts a refused request %s as a delivery or as a stranger', async (_name, given, counts, recent) => {
    const { deliver, listener } = await openListener()
    const { token, subscription, path } = given
    await deliver('{', { 'X-EventGrid-Binding-Token': token, 'aeg-subscription-name': subscription }, path)
    await expect.poll(() => listener.status()).toMatchObject(counts)
    const { strangers, answered } = listener.status()
    expect({ strangers, answered }).toEqual(counts)
    expect(listener.status().recent).toMatchObject(recent)
  })

  it('takes any of several tokens, so that a secret can be rotated', async () => {
    const deliveryAuthentication = bySecrets('client secret', 'another secret')
    const { deliver } = await openListener({ input: { deliveryAuthentication } })
    for (const credential of [ours, other]) {
      const answer = await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': credential.text })
      expect(answer.status).toBe(200)
    }
  })

  it.each([
    ['a newer one, unknown here, before ours', `${other.text},${ours.text}`, 200],
    ['two unknown ones before ours', `${'0'.repeat(16)}.x , ${other.text},${ours.text}`, 200],
    ['ours twice, as a proxy may double the header', `${ours.text}, ${ours.text}`, 200],
    ['ours and empty places', `,,${ours.text},`, 200],
    ['ours behind a dozen empty places', `${','.repeat(12)}${ours.text}`, 200],
    ['ours behind one that has our key id and another token', `${ours.keyId}.x,${ours.text}`, 200],
    ['unknown ones only', `${other.text},${other.text}`, 503],
    ['commas only', ',,,', 503],
    ['an unknown one and one of our key id with another token', `${other.text},${ours.keyId}.x`, 401],
    ['ours joined to another without a comma', `${ours.text} ${ours.text}`, 401],
    ['ours behind twelve others', `${'x,'.repeat(12)}${ours.text}`, 503],
  ])('whose list of credentials holds %s is answered as it should be', async (_name, token, status) => {
    const { deliver, events } = await openListener()
    const answer = await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': token })
    expect(answer.status).toBe(status)
    expect(events).toHaveLength(status === 200 ? 1 : 0)
  })

  it('that seems ours without our credential is reported to the binding and in the status', async () => {
    let reported = 0
    const { deliver, listener } = await openListener({
      onForeignDelivery: () => reported++,
      clock: createManualClock(1_000).clock,
    })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': 'INVOICES' })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': `${ours.keyId}.x` })
    expect(listener.status().foreignAt).toBeUndefined()
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': other.text })
    expect(reported).toBe(2)
    expect(listener.status().foreignAt).toBe(1_000)
  })

  it.each([
    { provisioning: 'manage', says: 'reading the event subscription again', remedy: undefined },
    { provisioning: 'check', says: 'no known credential', remedy: expect.stringContaining('provision') },
    { provisioning: 'none', says: 'no known credential', remedy: expect.stringContaining('provision') },
  ] as const)('that seems ours: with $provisioning the log says $says', async ({ provisioning, says, remedy }) => {
    const { deliver, log } = await openListener({ input: { provisioning } })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined })
    const line = { level: 'warn', message: expect.stringMatching(`${says}$`), fields: { status: 503 } }
    expect(log.lines).toMatchObject([line])
    expect(log.lines[0]?.fields?.remedy).toEqual(remedy)
  })
})

describe('a delivery of an event subscription that a renamed component left behind', () => {
  const from = (name: string) => ({ 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': name })

  it('is warned of with its name, which a stranger may have written', async () => {
    const { deliver, log } = await openListener()
    const token = { 'X-EventGrid-Binding-Token': other.text }
    for (const name of ['INVOICES', 'X'.repeat(5_000)])
      expect((await deliver(cloudEventText('1'), { ...from(name), ...token })).status).toBe(401)
    expect(log.lines).toMatchObject(
      ['invoices', `${'x'.repeat(64)}…`].map((eventSubscription) => ({
        ...{ level: 'warn', message: expect.stringContaining('another event subscription') },
        fields: { eventSubscription },
      })),
    )
    expect(log.text()).not.toContain(other.text)
  })

  it('has lines of its own for each name, and one together for names beyond 32', async () => {
    const { clock, advance } = createManualClock()
    const { deliver, log } = await openListener({ clock })
    for (const _time of ['first', 'second'])
      for (let index = 0; index < 120; index++) await deliver('x', from(`former${index}`))
    expect(log.lines).toHaveLength(33)
    advance(30_000)
    expect(log.lines).toHaveLength(66)
    expect(log.lines.at(-1)?.fields).toMatchObject({ eventSubscription: 'former119', leftOut: 175 })
  })
})

it('takes every delivery under none, and warns of it', async () => {
  const { deliver, events, log } = await openListener({ input: { deliveryAuthentication: { kind: 'none' } } })
  const headers = { 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': undefined }
  expect((await deliver(cloudEventText('1'), headers)).status).toBe(200)
  expect(events).toHaveLength(1)
  const message = 'accepted without a credential, because deliveryAuthentication is none'
  expect(log.lines).toMatchObject([{ level: 'warn', message: expect.stringContaining(message) }])
})

describe('deriveDeliveryCredentials', () => {
  it('gives the same for the same secret, scope and name in any letter case', () => {
    const shouting = credentialFrom('a', inputMetadata.scope.id.toUpperCase(), 'ORDERS')
    expect(shouting.text).toBe(credentialFrom('a').text)
  })

  it.each([
    { name: 'secret', changed: credentialFrom('b') },
    { name: 'name', changed: credentialFrom('a', inputMetadata.scope.id, 'invoices') },
    { name: 'scope', changed: credentialFrom('a', '/subscriptions/2') },
  ])('gives another key id and token for another $name', ({ changed }) => {
    const [keyId, token] = credentialFrom('a').text.split('.')
    expect(changed.keyId).not.toBe(keyId)
    expect(changed.text.split('.')[1]).not.toBe(token)
  })

  it('fits a header, does not hold the secret, and takes a scope of any length', () => {
    const { text } = credentialFrom('client secret', `/subscriptions/${'x'.repeat(5_000)}`)
    expect(text).toMatch(/^[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/)
  })

  it('never changes, or replicas of two versions would refuse each other', () => {
    expect(ours.text).toBe('a995aebd962901ae.ugYTjpEd_k6uI30Xd1nuK6eQS-QKL0oFd3ljufIsT10')
  })
})
