import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { configJsonSchema } from '../../src/config/config-schema.ts'

const root = resolve(import.meta.dirname, '../../../..')
const validate = new Ajv({ strict: true, strictTypes: false }).compile(configJsonSchema())
const faultsOf = (config: unknown) => (validate(config) ? [] : validate.errors)
const files = globSync('examples/**/emulator.yaml', { cwd: root })

it('knows the configurations of all examples', () => {
  expect(files.length).toBeGreaterThanOrEqual(3)
})

it.each(files)('accepts %s', (file) => {
  expect(faultsOf(parse(readFileSync(resolve(root, file), 'utf8')))).toEqual([])
})

it.each([
  { what: 'a role by its name', config: { clients: [{ roles: ['EventGrid Data Sender'] }] } },
  { what: 'a role at a scope', config: { clients: [{ roles: [{ role: 'Reader', scope: '/subscriptions/1' }] }] } },
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
  { what: 'one key of a topic', config: { topics: [{ name: 'orders', keys: ['AAAA'] }] } },
])('refuses $what', ({ config }) => {
  expect(faultsOf(config)).not.toEqual([])
})
