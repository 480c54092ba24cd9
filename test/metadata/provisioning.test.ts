import { describe, expect, it } from 'vitest'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { faults, without } from './parse.ts'
import { sampleInput, subscriptionId } from './sample.ts'

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
    expect(parseMetadata({ ...sampleInput, provisioning }).input).toMatchObject({
      provisioning: provisioning.toLowerCase(),
      credential: { kind: 'clientSecret' },
    })
    expect(fieldsOf({ ...bare, provisioning })).toEqual(['tenantId', 'subscriptionId', 'clientId', 'clientSecret'])
  })

  it.each([
    { name: 'a delivery token', fields: { ...bare, deliveryToken } },
    { name: 'a client secret, for the deliveries alone', fields: { ...bare, clientSecret: 'hidden-source' } },
    { name: 'deliveries without a credential', fields: { ...bare, deliveryAuthentication: 'none' } },
    {
      name: 'Entra',
      fields: { ...bare, deliveryAuthentication: 'entra', tenantId: sampleInput.tenantId, clientId: 'c' },
    },
  ])('none: asks for no credential of Azure with $name', ({ fields }) => {
    expect(parseMetadata(fields).input).toMatchObject({ provisioning: 'none', subscriptionId, credential: undefined })
  })

  it.each([
    { name: 'a source of the credential', fields: bare, missing: ['deliveryToken'] },
    {
      name: 'tenant and client with Entra',
      fields: { ...bare, deliveryAuthentication: 'entra' },
      missing: ['tenantId', 'clientId'],
    },
    {
      name: 'the name of the event subscription',
      fields: without('eventSubscriptionName', { ...bare, deliveryToken }),
      missing: ['eventSubscriptionName'],
    },
    { name: 'the scope', fields: without('scope', { ...bare, deliveryToken }), missing: ['scope'] },
    {
      name: 'address and port',
      fields: { provisioning: 'none', direction: 'input', deliveryToken },
      missing: ['subscriberEndpoint', 'handshakePort', 'scope', 'eventSubscriptionName'],
    },
    {
      name: 'endpoint and name, by pull',
      fields: without('namespaceEndpoint', without('eventSubscriptionName', { ...pull, namespaceKey: 'key' })),
      missing: ['eventSubscriptionName', 'namespaceEndpoint'],
    },
    { name: 'a key or a credential, by pull', fields: pull, missing: ['tenantId', 'clientId', 'clientSecret'] },
  ])('none: asks for $name', ({ fields, missing }) => {
    expect(fieldsOf(fields)).toEqual(missing)
  })

  it('none: takes what pull needs, a key or a credential', () => {
    expect(parseMetadata({ ...pull, namespaceKey: 'key' }).pull?.credential).toBeUndefined()
    expect(parseMetadata({ ...pull, azureCredential: 'managedIdentity' }).pull?.credential).toEqual({
      kind: 'managedIdentity',
    })
  })

  it('none: keeps a whole credential, for the command that provisions', () => {
    const whole = { ...bare, ...credential }
    expect(parseMetadata(whole).input?.credential).toMatchObject({ kind: 'clientSecret' })
    expect(parseMetadata(whole, { provisioning: 'manage' }).input?.provisioning).toBe('manage')
    expect(fieldsOf({ ...bare, deliveryToken }, { provisioning: 'manage' })).toEqual(Object.keys(credential))
  })
})
