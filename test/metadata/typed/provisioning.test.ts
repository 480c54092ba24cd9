import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../../src/metadata/typed/parse-metadata.ts'
import { faults, without } from '../parse.ts'
import { sampleInput, subscriptionId } from '../sample.ts'

const { subscriberEndpoint, handshakePort, scope, ...credential } = sampleInput
const bare = { provisioning: 'none', subscriberEndpoint, handshakePort, scope, eventSubscriptionName: 'orders' }
const deliveryToken = 'a-token-of-over-16-characters'
const pull = {
  provisioning: 'none',
  deliveryMode: 'pull',
  eventSubscriptionName: 'orders',
  namespaceTopic: `/subscriptions/${subscriptionId}/resourceGroups/shop/providers/Microsoft.EventGrid/namespaces/shop/topics/orders`,
  namespaceEndpoint: 'https://shop.westeurope-1.eventgrid.azure.net',
}
const fieldsOf = (properties: Record<string, unknown>, options = {}) =>
  faults(properties, options).map(({ field }) => field)

describe('provisioning', () => {
  it.each(['manage', 'CHECK'])('asks for the same fields with %s', (provisioning) => {
    expect(parseMetadata({ ...sampleInput, provisioning }).push).toMatchObject({
      provisioning: provisioning.toLowerCase(),
      credential: { kind: 'clientSecret' },
    })
    expect(fieldsOf({ ...bare, provisioning })).toEqual(['tenantId', 'subscriptionId', 'clientId', 'clientSecret'])
  })

  const byEntra = { ...bare, deliveryAuthentication: 'entra' }

  it.each([
    ['a delivery token', { ...bare, deliveryToken }],
    ['a client secret, for the deliveries alone', { ...bare, clientSecret: 'hidden-source' }],
    ['deliveries without a credential', { ...bare, deliveryAuthentication: 'none' }],
    ['Entra', { ...byEntra, tenantId: sampleInput.tenantId, clientId: 'c' }],
  ])('none: asks for no credential of Azure with %s', (_name, fields) => {
    expect(parseMetadata(fields).push).toMatchObject({ provisioning: 'none', subscriptionId, credential: undefined })
  })

  const withToken = { ...bare, deliveryToken }
  const named = 'eventSubscriptionName'

  it.each<[missing: readonly string[], fields: Record<string, unknown>]>([
    [['deliveryToken'], bare],
    [['tenantId', 'clientId'], byEntra],
    [[named], without(named, withToken)],
    [['scope'], without('scope', withToken)],
    [
      ['subscriberEndpoint', 'handshakePort', 'scope', named],
      { provisioning: 'none', direction: 'input', deliveryToken },
    ],
    [[named, 'namespaceEndpoint'], without('namespaceEndpoint', without(named, { ...pull, namespaceKey: 'key' }))],
    [['tenantId', 'clientId', 'clientSecret'], pull],
  ])('none: asks for %j', (missing, fields) => expect(fieldsOf(fields)).toEqual(missing))

  it('none: takes what pull needs, a key or a credential', () => {
    expect(parseMetadata({ ...pull, namespaceKey: 'key' }).pull?.credential).toBeUndefined()
    expect(parseMetadata({ ...pull, azureCredential: 'managedIdentity' }).pull?.credential).toEqual({
      kind: 'managedIdentity',
    })
  })

  it('none: keeps a whole credential, for the command that provisions', () => {
    const whole = { ...bare, ...credential }
    expect(parseMetadata(whole).push?.credential).toMatchObject({ kind: 'clientSecret' })
    expect(parseMetadata(whole, { provisioning: 'manage' }).push?.provisioning).toBe('manage')
    expect(fieldsOf({ ...bare, deliveryToken }, { provisioning: 'manage' })).toEqual(Object.keys(credential))
  })
})
