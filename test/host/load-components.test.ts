import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { type Loaded, loadComponents } from '../../src/host/load-components.ts'
import { makeComponentFolder } from '../support/component-folder.ts'

const key = 'an-access-key-nobody-may-see'

const component = (
  name: string,
  { type = 'bindings.azure.eventgrid', accessKey = `{ value: ${key} }`, more = '' } = {},
) => `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: ${name} }
spec:
  type: ${type}
  version: v1
  metadata:
    - { name: topicEndpoint, value: "https://${name}.westeurope-1.eventgrid.azure.net/api/events" }
    - { name: accessKey, ${accessKey.slice(1, -1)} }
${more}`

const load = (files: Readonly<Record<string, string | Error>>, before?: Loaded, env = {}, secrets = {}) =>
  loadComponents(new Map(Object.entries(files)), { appId: 'shop', env, secrets, before })

it('keeps what a broken file held, and takes over what the others say', () => {
  const before = load({ 'a.yaml': component('alpha'), 'b.yaml': component('beta') })
  const after = load({ 'a.yaml': 'kind: [', 'b.yaml': component('gamma') }, before)
  expect([...after.components.keys()]).toEqual(['alpha', 'gamma'])
  expect(after.faults).toEqual([expect.stringMatching(/a\.yaml:1:\d+: is not valid YAML here/)])
})

it('holds no component of a file that is gone', () => {
  const before = load({ 'a.yaml': component('alpha'), 'b.yaml': component('beta') })
  expect([...load({ 'b.yaml': component('beta') }, before).components.keys()]).toEqual(['beta'])
})

it.each([
  { name: 'broken metadata', text: component('alpha').replace('https', 'ftp'), fault: /topicEndpoint/ },
  { name: 'another version', text: component('alpha').replace('v1\n', 'v2\n'), fault: /must be v1/ },
  {
    name: 'a secret that is not there',
    text: component('alpha', { accessKey: '{ secretKeyRef: { name: gone } }' }),
    fault: /"gone"/,
  },
  { name: 'a file that cannot be read', text: new Error('EACCES'), fault: /can't be read: EACCES/ },
])('names the file of $name', ({ text, fault }) => {
  const { faults, components } = load({ 'dir/a.yaml': text })
  expect(faults).toEqual([expect.stringMatching(/dir\/a\.yaml/)])
  expect(faults).toEqual([expect.stringMatching(fault)])
  expect(components.size).toBe(0)
})

it('lets the first of two components of one name count, and says so', () => {
  const { faults, components } = load({
    'a.yaml': component('alpha'),
    'b.yml': component('alpha', { type: 'bindings.cloud.eventrouter' }),
  })
  expect(components.get('alpha')?.component.type).toBe('bindings.azure.eventgrid')
  expect(faults).toEqual(['b.yml: there is another component "alpha"; the first counts'])
})

it('leaves out what is for another application, and what is not ours', () => {
  const loaded = load({
    'a.yaml': component('alpha', { more: 'scopes: [billing]' }),
    'b.yaml': component('beta', { more: 'scopes: [shop, billing]' }),
    'c.yaml': component('gamma', { type: 'state.redis' }),
  })
  expect([...loaded.components.keys()]).toEqual(['beta'])
  expect(loaded.notes).toEqual([
    'a.yaml: component alpha is for billing, not for shop: left out',
    'c.yaml: component gamma is a state.redis, which is not ours: left out',
  ])
})

it.each([
  { name: 'the file of a local file store', store: 'secretstores.local.file', env: {} },
  { name: 'the environment, by a local environment store', store: 'secretstores.local.env', env: { SHOP_topic: key } },
])('finds secrets in $name', ({ store, env }) => {
  const { path } = makeComponentFolder()
  writeFileSync(`${path}/secrets.json`, JSON.stringify({ topic: key }))
  const loaded = load(
    {
      'a.yaml': component('alpha', { accessKey: '{ secretKeyRef: { name: topic, key: topic } }' }),
      'z.yaml': `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: local }
spec: { type: ${store}, metadata: [{ name: secretsFile, value: "${path}/secrets.json" }, { name: prefix, value: SHOP_ }] }`,
    },
    undefined,
    env,
  )
  expect(loaded.faults).toEqual([])
  expect(loaded.components.get('alpha')?.metadata.output).toBeDefined()
})

it('keeps the tokens of Dapr itself from components, as Dapr does', () => {
  const store = `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: local }
spec: { type: secretstores.local.env }`
  const text = component('alpha', { accessKey: '{ secretKeyRef: { name: DAPR_API_TOKEN } }' })
  expect(load({ 'a.yaml': text, 'b.yaml': store }, undefined, { DAPR_API_TOKEN: 'x' }).faults).toHaveLength(1)
})

it('quotes nothing of a secrets file that is no JSON', () => {
  const { path } = makeComponentFolder()
  writeFileSync(`${path}/secrets.json`, `{ "topic": ${key} }`)
  const { faults } = load({
    'z.yaml': `
apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: local }
spec: { type: secretstores.local.file, metadata: [{ name: secretsFile, value: "${path}/secrets.json" }] }`,
  })
  expect(faults).toEqual([`secret store local: ${path}/secrets.json must hold a JSON object`])
})

it('tells a component whose secret has changed from what it was, and shows neither', () => {
  const [one, two, again] = [key, `${key}-2`, key].map((value) =>
    load({ 'a.yaml': component('alpha', { accessKey: `{ value: ${value} }` }) }),
  )
  expect(one?.components.get('alpha')?.fingerprint).not.toBe(two?.components.get('alpha')?.fingerprint)
  expect(one?.components.get('alpha')?.fingerprint).toBe(again?.components.get('alpha')?.fingerprint)
  expect(inspect([one, two], { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain(key)
  expect(JSON.stringify([...(one?.components.values() ?? [])])).not.toContain(key)
})
