import { describe, expect, it } from 'vitest'
import { deriveDeliveryToken } from '../../src/binding/delivery-token.ts'
import { Secret } from '../../src/core/secret.ts'
import { type Evidence, refuseCredential } from '../../src/listener/credential.ts'
import { formatDeliveryToken } from '../../src/listener/shared-token.ts'
import { cloudEventText, inputMetadata, openListener, secretToken } from './open-listener.ts'

const derive = (source: string, name = 'orders') => deriveDeliveryToken(new Secret(source), inputMetadata.scope, name)
const otherToken = derive('another secret')

describe('a delivery under secret', () => {
  it.each([
    { name: 'our token', token: formatDeliveryToken(secretToken), subscription: 'ORDERS', status: 200 },
    {
      name: 'our token and our name in another case',
      token: formatDeliveryToken(secretToken),
      subscription: 'oRdErS',
      status: 200,
    },
    { name: 'no token, for our subscription', token: undefined, subscription: 'Orders', status: 503 },
    {
      name: 'an unknown key id, for our subscription',
      token: formatDeliveryToken(otherToken),
      subscription: 'ORDERS',
      status: 503,
    },
    { name: 'a malformed token, for our subscription', token: 'nonsense', subscription: 'ORDERS', status: 503 },
    { name: 'no token, for another subscription', token: undefined, subscription: 'INVOICES', status: 401 },
    { name: 'no token and no subscription', token: undefined, subscription: undefined, status: 401 },
    {
      name: 'an unknown key id, for another subscription',
      token: formatDeliveryToken(otherToken),
      subscription: 'INVOICES',
      status: 401,
    },
    {
      name: 'our key id and another token',
      token: `${secretToken.keyId}.${otherToken.token.reveal()}`,
      subscription: 'ORDERS',
      status: 401,
    },
    { name: 'our key id and a shorter token', token: `${secretToken.keyId}.x`, subscription: 'ORDERS', status: 401 },
    { name: 'our key id and no token', token: `${secretToken.keyId}.`, subscription: 'ORDERS', status: 401 },
  ])('with $name is answered $status', async ({ token, subscription, status }) => {
    const { deliver, events } = await openListener()
    const answer = await deliver(cloudEventText('1'), {
      'X-EventGrid-Binding-Token': token,
      'aeg-subscription-name': subscription,
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('retry-after')).toBe(status === 503 ? '30' : null)
    expect(answer.headers.has('www-authenticate')).toBe(status === 401)
    expect(events).toHaveLength(status === 200 ? 1 : 0)
  })

  it('takes any of several tokens, so that a secret can be rotated', async () => {
    const { deliver } = await openListener({ authentication: { kind: 'secret', tokens: [secretToken, otherToken] } })
    for (const token of [secretToken, otherToken]) {
      const answer = await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': formatDeliveryToken(token) })
      expect(answer.status).toBe(200)
    }
  })

  it('that seems ours without our credential is told to the binding and in the status', async () => {
    let told = 0
    const { deliver, listener } = await openListener({ onForeignDelivery: () => told++, now: () => 1_000 })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': 'INVOICES' })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': `${secretToken.keyId}.x` })
    expect(listener.status().foreign).toBeUndefined()
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined })
    await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': formatDeliveryToken(otherToken) })
    expect(told).toBe(2)
    expect(listener.status().foreign).toEqual({ count: 2, lastAt: 1_000 })
  })

  it('refused again and again takes one line of the log', async () => {
    const { deliver, log } = await openListener({ now: () => 1_000 })
    for (let count = 0; count < 5; count++)
      await deliver('x', { 'X-EventGrid-Binding-Token': `${secretToken.keyId}.x` })
    expect(log.lines).toHaveLength(1)
    expect(log.text()).not.toContain(secretToken.token.reveal())
  })
})

describe('a delivery of an event subscription that a renamed component left behind', () => {
  const from = (name: string) => ({ 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': name })

  it('is warned of with its name and the lines that end it', async () => {
    const { deliver, log } = await openListener({
      input: {
        scope: {
          ...{ kind: 'resourceGroup', subscriptionId: 's1', resourceGroup: 'rg(1)' },
          id: '/subscriptions/s1/resourceGroups/rg(1)',
        },
      },
    })
    const token = { 'X-EventGrid-Binding-Token': formatDeliveryToken(otherToken) }
    expect((await deliver(cloudEventText('1'), { ...from('INVOICES'), ...token })).status).toBe(401)
    expect(log.lines).toMatchObject([
      {
        level: 'warn',
        message: expect.stringContaining('another event subscription'),
        fields: {
          eventSubscription: 'invoices',
          remedy: expect.stringMatching(
            /az eventgrid event-subscription delete --name invoices --source-resource-id '\/subscriptions\/s1\/resourceGroups\/rg\(1\)'; .*eventSubscriptionName to invoices$/,
          ),
        },
      },
    ])
    expect(log.text()).not.toContain(otherToken.token.reveal())
  })

  it.each([
    {
      name: 'a hyphen, which eventSubscriptionName can not have',
      sent: 'A-B-C',
      remedy: /^(?!.*eventSubscriptionName).* delete --name a-b-c /,
    },
    { name: 'what a shell would run', sent: '$(reboot); echo', remedy: undefined },
    { name: 'more letters than a name has', sent: 'X'.repeat(5_000), remedy: undefined },
  ])('has a line to paste only for what can be a name: $name', async ({ sent, remedy }) => {
    const { deliver, log } = await openListener()
    await deliver(cloudEventText('1'), from(sent))
    const [line] = log.lines
    expect(String(line?.fields?.eventSubscription).length).toBeLessThan(70)
    if (remedy) expect(line?.fields?.remedy).toMatch(remedy)
    else expect(line?.fields).not.toHaveProperty('remedy')
  })

  it('has a line of its own for each name, and one together for names beyond 16', async () => {
    let time = 0
    const { deliver, log } = await openListener({ now: () => time })
    const sendAll = async () => {
      for (let index = 0; index < 40; index++) await deliver('x', from(`former${index}`))
    }
    await sendAll()
    await sendAll()
    expect(log.lines).toHaveLength(17)
    time = 30_000
    await deliver('x', from('former39'))
    expect(log.lines).toHaveLength(18)
    expect(log.lines.at(-1)?.fields).toMatchObject({ eventSubscription: 'former39' })
  })
})

it('takes every delivery under none, and warns of it', async () => {
  const { deliver, events, log } = await openListener({ authentication: { kind: 'none' } })
  expect(
    (await deliver(cloudEventText('1'), { 'X-EventGrid-Binding-Token': undefined, 'aeg-subscription-name': undefined }))
      .status,
  ).toBe(200)
  expect(events).toHaveLength(1)
  expect(log.lines).toMatchObject([
    { level: 'warn', message: expect.stringContaining('deliveryAuthentication is none') },
  ])
})

describe('deriveDeliveryToken', () => {
  const text = (token: ReturnType<typeof derive>) => formatDeliveryToken(token)

  it('gives the same for the same secret, scope and name in any letter case', () => {
    const shouting = { ...inputMetadata.scope, id: inputMetadata.scope.id.toUpperCase() }
    expect(text(deriveDeliveryToken(new Secret('a'), shouting, 'ORDERS'))).toBe(text(derive('a')))
  })

  it.each([
    { name: 'secret', other: derive('b') },
    { name: 'name', other: derive('a', 'invoices') },
    {
      name: 'scope',
      other: deriveDeliveryToken(new Secret('a'), { ...inputMetadata.scope, id: '/subscriptions/2' }, 'orders'),
    },
  ])('gives another key id and token for another $name', ({ other }) => {
    expect(other.keyId).not.toBe(derive('a').keyId)
    expect(other.token.reveal()).not.toBe(derive('a').token.reveal())
  })

  it('fits a header, does not hold the secret, and takes a scope of any length', () => {
    const scope = { ...inputMetadata.scope, id: `/subscriptions/${'x'.repeat(5_000)}` }
    const header = text(deriveDeliveryToken(new Secret('client secret'), scope, 'orders'))
    expect(header).toMatch(/^[0-9a-f]{16}\.[A-Za-z0-9_-]{43}$/)
  })

  it('stays what it is, or replicas of two versions would refuse each other', () => {
    expect(secretToken.keyId).toBe('a995aebd962901ae')
    expect(secretToken.token.reveal()).toBe('ugYTjpEd_k6uI30Xd1nuK6eQS-QKL0oFd3ljufIsT10')
  })
})

describe('refuseCredential', () => {
  const minutes = (count: number) => count * 60_000
  const failing: Evidence = { kind: 'failing', reason: 'x' }

  it.each([
    { name: 'before our write stands', evidence: failing, writtenAt: undefined, now: minutes(100), status: 503 },
    {
      name: 'just under ten minutes after it',
      evidence: failing,
      writtenAt: minutes(1),
      now: minutes(11) - 1,
      status: 503,
    },
    { name: 'ten minutes after it', evidence: failing, writtenAt: minutes(1), now: minutes(11), status: 401 },
  ])('answers a failing token $status $name', ({ evidence, writtenAt, now, status }) => {
    expect(refuseCredential(evidence, { namesUs: true, writtenAt, now })).toMatchObject({
      status,
      foreign: false,
    })
  })

  it('answers 503 when keys are not available, however old our write is', () => {
    const context = { namesUs: false, writtenAt: 0, now: minutes(1_000) }
    expect(refuseCredential({ kind: 'unavailable' }, context)).toMatchObject({ status: 503 })
  })
})
