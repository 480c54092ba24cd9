import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../src/support/command-line/usage-error.ts'
import { tunnelLines } from '../push/listener.ts'
import { namesOf, randomSuffix } from './names.ts'
import { help, readOptions } from './options.ts'
import { priceLines, prices, pricesOf, totalCents } from './prices.ts'

const env = { AZURE_SUBSCRIPTION_ID: '12345678-9abc-4def-8123-456789abcdef' }
const group = ['--resource-group', 'shop']

describe('options', () => {
  it('have defaults', () => {
    expect(readOptions(group, env)).toEqual({
      ...{ subscriptionId: env.AZURE_SUBSCRIPTION_ID, resourceGroup: 'shop', location: 'westeurope', port: 9000 },
      report: 'azure-report.json',
      ...{ keep: false, clean: false, yes: false },
    })
  })

  it.each([
    { name: 'nothing', args: [], env: {}, says: /--resource-group.*AZURE_SUBSCRIPTION_ID/ },
    { name: 'no group', args: [], says: /--resource-group/ },
    { name: 'no subscription', args: group, env: {}, says: /AZURE_SUBSCRIPTION_ID/ },
    { name: 'a subscription by its name', args: group, env: { AZURE_SUBSCRIPTION_ID: 'mine' }, says: /GUID/ },
    { name: 'a group with a slash', args: ['--resource-group', 'a/b'], says: /--resource-group/ },
    { name: 'a group that ends in a dot', args: ['--resource-group', 'a.'], says: /--resource-group/ },
    { name: 'a region in words', args: [...group, '--location', 'West Europe'], says: /--location/ },
    { name: 'a public URL of http', args: [...group, '--public-url', 'http://host.example'], says: /--public-url/ },
    {
      name: 'a public URL with a path',
      args: [...group, '--public-url', 'https://host.example/a'],
      says: /--public-url/,
    },
    {
      name: 'a public URL with a password',
      args: [...group, '--public-url', 'https://a:b@host.example'],
      says: /--public-url/,
    },
    { name: 'a port alone', args: [...group, '--port', '9000'], says: /--port needs --public-url/ },
    {
      name: 'a port that is none',
      args: [...group, '--public-url', 'https://a.example', '--port', '70000'],
      says: /--port/,
    },
    { name: 'an application alone', args: [...group, '--application', 'a'], says: /--application needs/ },
    { name: 'a broken pattern', args: [...group, '--only', '('], says: /regular expression/ },
    { name: 'a long pattern', args: [...group, '--only', 'a'.repeat(201)], says: /200/ },
    { name: 'keep and clean', args: [...group, '--keep', '--clean'], says: /contradict/ },
    { name: 'a certificate alone', args: [...group, '--ca', 'a.pem'], says: /--ca needs/ },
    { name: 'a misspelt option', args: [...group, '--locaton', 'westeurope'], says: /did you mean --location/ },
    { name: 'an empty value', args: ['--resource-group', ''], says: /empty value/ },
  ])('are refused: $name', ({ args, env: given = env, says }) => {
    const read = () => readOptions(args, given)
    expect(read).toThrow(UsageError)
    expect(read).toThrow(says)
  })

  it('have a help of 80 columns', () => {
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})

it('names fit what Azure takes, and no two runs have the same', () => {
  const suffixes = Array.from({ length: 1000 }, randomSuffix)
  expect(new Set(suffixes).size).toBe(suffixes.length)
  for (const suffix of suffixes) {
    const place = { subscriptionId: env.AZURE_SUBSCRIPTION_ID, resourceGroup: 'shop', location: 'westeurope', suffix }
    const { storage, cloudTopic, namespace } = namesOf(place)
    expect(storage).toMatch(/\/storageAccounts\/[a-z\d]{3,24}$/)
    expect(cloudTopic).toMatch(/\/topics\/[a-z\d-]{3,50}$/)
    expect(namespace).toMatch(/\/namespaces\/[a-z][a-z\d-]{2,49}$/)
  }
})

it('the costs that are shown are the sum of their rows, and under a euro', () => {
  expect(totalCents).toBeLessThan(100)
  expect(prices.reduce((sum, { atMostCents }) => sum + atMostCents, 0)).toBe(totalCents)
  for (const { what } of prices) expect(priceLines().join('\n')).toContain(`${what}: `)
  expect(priceLines()[0]).toContain(`${totalCents} euro cents`)
})

describe('the page', () => {
  const page = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

  it('names each option, and no other', () => {
    const named = (text: string) => new Set(text.match(/(?<=^(?: {2}|\| `|.*`, `)--)[a-z-]+/gm))
    const [, table = ''] = /\n## Options\n(.*?)\n## /s.exec(page) ?? []
    const listed = [...table.matchAll(/`--([a-z-]+)/g)].map(([, name]) => name)
    expect(new Set(listed)).toEqual(named(help))
  })

  it('has the bounds that the command shows', () => {
    const bounds = [...page.matchAll(/\| (\d+) cents \|/g)].map(([, cents]) => Number(cents))
    expect(bounds.toSorted()).toEqual(prices.map(({ atMostCents }) => atMostCents).toSorted())
    expect(page).toContain(`written in ${pricesOf}`)
  })

  it('has the tunnels that the command names', () => {
    for (const line of tunnelLines(9000).slice(1)) expect(page).toContain(line.trim())
  })
})
