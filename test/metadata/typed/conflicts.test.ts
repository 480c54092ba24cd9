import { expect, it } from 'vitest'
import { faults, input } from '../parse.ts'
import { sampleInput, storageAccount, subscriptionId } from '../sample.ts'

const entra = { deliveryAuthentication: 'entra' }
const account = 'deadLetterStorageAccountId'

it.each([
  ['a tenant by its id with entra', entra],
  ['a tenant by its name without entra', { tenantId: 'contoso.example', deliveryAuthentication: 'none' }],
  ['a destination of dead letters', { deadLetterStorageAccountId: storageAccount, deadLetterContainer: 'dead' }],
  ['the default of both fields', { deadLetterStorageAccountId: 'default', deadLetterContainer: 'Default' }],
  ['a scope of the same subscription', { subscriptionId: subscriptionId.toUpperCase() }],
])('fields that agree are taken: %s', (_name, fields) => expect(input(fields)).toBeDefined())

it.each<[fields: object, field: string, fix?: unknown]>([
  [{ scope: '/subscriptions/another' }, 'scope', 'make the two ids the same'],
  [{ deadLetterStorageAccountId: 'default', deadLetterContainer: 'dead' }, account],
  [{ deadLetterStorageAccountId: storageAccount, deadLetterContainer: 'default' }, account],
  [{ ...entra, azureEnvironment: 'AzureChina' }, 'eventGridClientId', expect.stringContaining('az ad sp list')],
  [{ ...entra, tenantId: 'contoso.example' }, 'tenantId', expect.stringContaining('az account show')],
])('%j does not agree with the rest of the fields', (fields, field, fix) => {
  const [issue, ...others] = faults({ ...sampleInput, ...fields })
  expect([issue?.field, issue?.fix, others]).toEqual([field, fix, []])
})
