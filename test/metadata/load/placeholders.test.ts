import { expect, it } from 'vitest'
import { createPlaceholders } from '../../../src/metadata/component/component-properties.ts'

const needsAppId = 'give one'
const env = { POD_NAME: 'shop-0', NAMESPACE: 'prod' }

it.each([
  ['{appID}-x', 'shop-x'],
  ['a,{podName},{podName}', 'a,shop-0,shop-0'],
  ['{namespace}', 'prod.shop'],
  ['{other} {appid} {}', '{other} {appid} {}'],
])('fills in %s as %s', (text, expected) =>
  expect(createPlaceholders({ appId: 'shop', env, needsAppId })(text)).toBe(expected),
)

it('fills in one UUID, however often files are read', () => {
  const fill = createPlaceholders({ appId: '', env: {}, needsAppId })
  expect(fill('{uuid}')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(fill('a{uuid}b')).toBe(`a${fill('{uuid}')}b`)
  expect(createPlaceholders({ env, needsAppId })('{uuid}')).toBe(fill('{uuid}'))
})

it.each([{}, { NAMESPACE: '' }])("takes a namespace that is not said for Dapr's own: %o", (said) =>
  expect(createPlaceholders({ appId: 'shop', env: said, needsAppId })('{namespace}')).toBe('default.shop'),
)
