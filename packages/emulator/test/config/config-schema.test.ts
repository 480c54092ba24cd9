import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../../src/config/config.ts'
import { configJsonSchema, configSchema } from '../../src/config/config-schema.ts'

const root = resolve(import.meta.dirname, '../../../..')
const validate = new Ajv({ strict: true, strictTypes: false }).compile(configJsonSchema())
const faultsOf = (config: unknown) => (validate(config) ? [] : validate.errors)
const whole = 'packages/emulator/examples/emulator.yaml'
const files = [...globSync('examples/**/emulator.yaml', { cwd: root }), whole]

it('knows the configurations of all examples', () => {
  expect(files.length).toBeGreaterThanOrEqual(3)
})

it('has an example that names each field, and can be used', () => {
  const text = readFileSync(resolve(root, whole), 'utf8')
  const named = [...text.matchAll(/^(?:# )?([a-zA-Z]+):/gm)].map(([, name]) => name)
  expect(new Set(named)).toEqual(new Set(Object.keys(configSchema.shape)))
  const { config } = parseConfig(text, { file: 'emulator.yaml', now: 0, readFile: () => '' })
  expect(config.topics).toMatchObject([{ name: 'orders' }])
})

it.each(files)('accepts %s', (file) => {
  expect(faultsOf(parse(readFileSync(resolve(root, file), 'utf8')))).toEqual([])
})

it.each([
  { what: 'a role by its name', config: { clients: [{ roles: ['EventGrid Data Sender'] }] } },
  { what: 'a role at a scope', config: { clients: [{ roles: [{ role: 'Reader', scope: '/subscriptions/1' }] }] } },
  {
    what: 'the settings of an event subscription beside its endpoint',
    config: {
      eventSubscriptions: [
        {
          ...{ name: 'audit', endpoint: 'https://a.example/' },
          properties: {
            destination: { endpointType: 'WebHook', properties: { maxEventsPerBatch: 10 } },
            filter: { advancedFilters: [{ operatorType: 'StringIn', key: 'data.a', values: ['b'] }] },
            expirationTimeUtc: '2030-01-01T00:00:00Z',
          },
        },
      ],
    },
  },
  { what: 'nothing', config: {} },
])('accepts $what', ({ config }) => {
  expect(faultsOf(config)).toEqual([])
})

it.each([
  { what: 'a misspelt field', config: { topcis: [] } },
  { what: 'a misspelt field of a topic', config: { topics: [{ name: 'orders', inputShema: 'EventGridSchema' }] } },
  { what: 'a misspelt field of a role', config: { clients: [{ roles: [{ rloe: 'Reader' }] }] } },
  { what: 'a text in place of a port', config: { port: '4430' } },
  { what: 'an unknown input schema', config: { topics: [{ name: 'orders', inputSchema: 'CloudEvents' }] } },
  {
    what: 'a misspelt setting of an event subscription',
    config: { eventSubscriptions: [{ name: 'audit', properties: { filtr: {} } }] },
  },
  {
    what: 'a setting of another type',
    config: { eventSubscriptions: [{ name: 'audit', properties: { filter: { includedEventTypes: 'All' } } }] },
  },
  {
    what: 'a misspelt setting of a Queue event subscription',
    config: {
      namespaces: [
        { name: 'shop', topics: [{ name: 'new', eventSubscriptions: [{ name: 'app', properties: { filters: [] } }] }] },
      ],
    },
  },
  { what: 'one key of a topic', config: { topics: [{ name: 'orders', keys: ['AAAA'] }] } },
])('refuses $what', ({ config }) => {
  expect(faultsOf(config)).not.toEqual([])
})
