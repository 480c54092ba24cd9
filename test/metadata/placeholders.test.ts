import { expect, it } from 'vitest'
import { createPlaceholders } from '../../src/metadata/folder/placeholders.ts'

const env = { POD_NAME: 'shop-0', NAMESPACE: 'prod' }

it.each([
  ['{appID}-x', 'shop-x'],
  ['a,{podName},{podName}', 'a,shop-0,shop-0'],
  ['{namespace}', 'prod.shop'],
  ['{other} {appid} {}', '{other} {appid} {}'],
])('fills in %s as %s', (text, expected) => expect(createPlaceholders({ appId: 'shop', env })(text)).toBe(expected))

it('fills in one UUID, however often it is asked', () => {
  const fill = createPlaceholders({ appId: '', env: {} })
  expect(fill('{uuid}')).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
  expect(fill('a{uuid}b')).toBe(`a${fill('{uuid}')}b`)
  expect(createPlaceholders({ appId: '', env: {} })('{uuid}')).not.toBe(fill('{uuid}'))
})

it.each([{}, { NAMESPACE: '' }])("takes a namespace that is not said for Dapr's own: %o", (said) =>
  expect(createPlaceholders({ appId: 'shop', env: said })('{namespace}')).toBe('default.shop'),
)

it.each([
  ['{podName}', 'set POD_NAME in the environment'],
  ['{appID}', 'start with --app-id'],
  ['{namespace}', 'start with --app-id'],
])('refuses %s where nothing is known of it', (text, fix) => {
  expect(() => createPlaceholders({ appId: '', env: {} })(text)).toThrow(expect.objectContaining({ fix }))
})
