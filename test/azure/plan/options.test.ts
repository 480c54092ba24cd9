import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../src/support/command-line/options.ts'
import { tunnelLines } from '../push/listener.ts'
import { leftGroupOf, nameOf, namesOf, randomSuffix, tagName } from './names.ts'
import { help, readOptions } from './options.ts'
import { priceLines, prices, pricesOf, totalCents } from './prices.ts'

const env = { AZURE_SUBSCRIPTION_ID: '12345678-9abc-4def-8123-456789abcdef' }
const group = ['--resource-group', 'shop']

describe('options', () => {
  it('have defaults', () => {
    expect(readOptions([], env)).toEqual({
      ...{ subscriptionId: env.AZURE_SUBSCRIPTION_ID, location: 'westeurope', port: 9000 },
      report: 'azure-report.json',
      ...{ keep: false, clean: false, yes: false },
    })
  })

  const url = '--public-url'
  it.each<[name: string, args: readonly string[], says: RegExp, given?: Parameters<typeof readOptions>[1]]>([
    ['nothing', [], /AZURE_SUBSCRIPTION_ID/, {}],
    ['no subscription', group, /AZURE_SUBSCRIPTION_ID/, {}],
    ['a subscription by its name', group, /GUID/, { AZURE_SUBSCRIPTION_ID: 'mine' }],
    ['a group with a slash', ['--resource-group', 'a/b'], /--resource-group/],
    ['a group that ends in a dot', ['--resource-group', 'a.'], /--resource-group/],
    ['a region in words', [...group, '--location', 'West Europe'], /--location/],
    ['a public URL of http', [...group, url, 'http://host.example'], /--public-url/],
    ['a public URL with a path', [...group, url, 'https://host.example/a'], /--public-url/],
    ['a public URL with a password', [...group, url, 'https://a:b@host.example'], /--public-url/],
    ['a port alone', [...group, '--port', '9000'], /--port needs --public-url/],
    ['a port that is none', [...group, url, 'https://a.example', '--port', '70000'], /--port/],
    ['an application alone', [...group, '--application', 'a'], /--application needs/],
    ['a broken pattern', [...group, '--only', '('], /regular expression/],
    ['a long pattern', [...group, '--only', 'a'.repeat(201)], /200/],
    ['keep and clean', ['--keep', '--clean'], /contradict/],
    ['clean with a group', [...group, '--clean'], /--clean takes no --resource-group/],
    ['a certificate alone', [...group, '--ca', 'a.pem'], /--ca needs/],
    ['a misspelt option', [...group, '--locaton', 'westeurope'], /did you mean --location/],
    ['an empty value', ['--resource-group', ''], /empty value/],
  ])('are refused: %s', (_name, args, says, given = env) => {
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
    const place = { subscriptionId: env.AZURE_SUBSCRIPTION_ID, location: 'westeurope', suffix }
    const { group: own, storage, cloudTopic, namespace } = namesOf({ ...place, resourceGroup: undefined })
    const marked = { name: nameOf(own), tags: { [tagName]: '2026-11-27T12:00:00.000Z' } }
    const days = Date.parse('2026-11-29T12:00:00Z')
    expect(leftGroupOf(marked, env.AZURE_SUBSCRIPTION_ID, days)).toMatchObject({ id: own })
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
