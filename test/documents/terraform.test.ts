// The examples of Terraform say what the product says: the delivery attribute, the roles, the fields of the component.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findRole } from '../../packages/emulator/src/entra/roles.ts'
import { deliveryTokenHeader } from '../../src/core/delivery-credential.ts'
import { parseComponents } from '../../src/index.ts'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { root } from './page.ts'

const read = (file: string) => readFileSync(join(root, 'examples/terraform', file), 'utf8')
const sources = { azurerm: read('azurerm/main.tf'), azapi: read('azapi/main.tf') }

it('writes the delivery attribute that the binding reads', () => {
  expect(sources.azurerm).toContain(`header_name = "${deliveryTokenHeader}"`)
})

it('assigns the same roles by name and by id', () => {
  const names = [...sources.azurerm.matchAll(/"(EventGrid [^"]+)"/g)].map(([, name = '']) => findRole(name)?.name)
  const ids = [...sources.azapi.matchAll(/= "([\da-f]{8}-[\da-f-]{27})"/g)].map(([, id = '']) => findRole(id)?.name)
  expect(names).toEqual(['EventGrid Data Sender', 'EventGrid EventSubscription Reader'])
  expect(ids).toEqual(names)
})

it.each([
  { file: 'component.yaml', provisioning: 'none', by: 'secret' },
  { file: 'component-check.yaml', provisioning: 'check', by: 'entra' },
])('has $file, whose metadata is right for the event subscription', ({ file, provisioning, by }) => {
  const [component] = parseComponents(read(file), {
    secrets: { 'event-grid': { deliveryToken: 'a token of the deliveries' } },
  })
  const { warnings, push: input } = parseMetadata(component?.properties ?? [], { componentName: 'orders' })
  expect(warnings).toEqual([])
  expect(input).toMatchObject({ eventSubscriptionName: 'orders', provisioning, deliveryAuthentication: { kind: by } })
  for (const source of Object.values(sources)) {
    expect(source).toContain('"orders-topic"')
    expect(source).toContain('"https://orders.example.com/api/events"')
  }
})
