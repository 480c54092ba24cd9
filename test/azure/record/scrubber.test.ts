import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../wire/wire.ts'
import { recordedExchanges } from './recording.ts'
import { createScrubber } from './scrubber.ts'

const known = {
  subscriptionId: '12345678-9abc-4def-8123-456789abcdef',
  resourceGroup: 'Shop-Group',
  suffix: 'kx7mwq2p',
  origins: new Map([
    ['https://management.azure.com', '{arm}'],
    ['https://tunnel.example.com', '{public}'],
  ]),
}
const key = 'q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM+/abcde='

describe('a text', () => {
  const scrubber = createScrubber(known)
  scrubber.learn(key)
  scrubber.learn('open sesame & co')

  it.each<[what: string, given: string, shown?: string]>([
    ['the Azure subscription', `/subscriptions/${known.subscriptionId}/x`, '/subscriptions/{subscription}/x'],
    ['it in capitals', `/subscriptions/${known.subscriptionId.toUpperCase()}/x`, '/subscriptions/{subscription}/x'],
    ['the group in another letter case', '/resourceGroups/shop-group/providers', '/resourceGroups/{group}/providers'],
    [
      'the group in a message',
      "Resource group 'SHOP-GROUP' could not be found.",
      "Resource group '{group}' could not be found.",
    ],
    ['the group in a URL', 'next=%2Fx%2Fshop-group%2F', 'next=%2Fx%2F{group}%2F'],
    ['the group in a longer name', 'account shop-groupstore', 'account {group}store'],
    ['the group in base64', Buffer.from('x/Shop-Group/').toString('base64'), 'eC9{group}Lw=='],
    ['the subscription without dashes', known.subscriptionId.replaceAll('-', ''), '{subscription}'],
    ['an id without dashes', 'id 0f8fad5bd9cb469fa16570867728950e.', 'id {guid}.'],
    ['where a list goes on', '/x?$skiptoken=abc%3d&$top=1', '/x?$skiptoken={token}&$top=1'],
    [
      'any host of a URL',
      'see https://portal.contoso.com:8443/x and https://aka.ms/y',
      'see https://{host}/x and https://aka.ms/y',
    ],
    ['any host of a URL in a URL', 'u=https%3A%2F%2Fportal.contoso.com%3A8443%2Fx', 'u=https%3A%2F%2F{host}%2Fx'],
    ['a host of another cloud', 'shop.westus-1.eventgrid.azure.us', '{host}'],
    ['the domain of a tenant', 'of contoso.onmicrosoft.com', 'of {host}'],
    ['the suffix', 'egb-cloud-kx7mwq2p', 'egb-cloud-{suffix}'],
    ['the suffix in capitals', 'P1N2KX7MWQ2P', 'P1N2{suffix}'],
    ['an id', 'id 0f8fad5b-d9cb-469f-a165-70867728950e.', 'id {guid}.'],
    ['Resource Manager', 'https://management.azure.com/subscriptions', '{arm}/subscriptions'],
    ['the tunnel', 'https://tunnel.example.com/probe/1', '{public}/probe/1'],
    ['a host of Event Grid', 'https://egb-x.westeurope-1.eventgrid.azure.net/api/events', 'https://{host}/api/events'],
    ['a host of Storage', 'account.blob.core.windows.net', '{host}'],
    ['a port of this machine', 'https://127.0.0.1:4430/topics', 'https://{host}/topics'],
    ['an address', 'client 203.0.113.7 may not', 'client {address} may not'],
    ['a key', `key=${key}.`, 'key={secret}.'],
    ['a key in a URL', `x=${encodeURIComponent(key)}`, 'x={secret}'],
    ['a key in base64', Buffer.from(key).toString('base64'), '{secret}'],
    ['a secret with blanks in a form', 'a=open+sesame+%26+co&b', 'a={secret}&b'],
    ['a token nobody told of', 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJhIjoxfQ.c2ln', 'Bearer {token}'],
    ['a signature in a query', '/x?se=2026&sig=abc%2Fdef%3D&sp=r', '/x?se=2026&sig={secret}&sp=r'],
    [
      'the signed query of an operation',
      '/op?api-version=2025-02-15&t=6389&c=MII&s=x_y&h=z',
      '/op?api-version=2025-02-15&t={secret}&c={secret}&s={secret}&h={secret}',
    ],
    ['a key nobody told of', 'listed Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MFFXRVJUWVVJT1A=', 'listed {key}'],
    ['an account', 'by jane.doe@contoso.com', 'by {account}'],
    ['a time in a message', 'at 11/27/2026 1:02:03 PM (UTC)', 'at {time} (UTC)'],
    ['words', 'The maximum size (1536000) has been exceeded.'],
    ['a fact', '/providers/Microsoft.EventGrid/topics?api-version=2025-02-15'],
    ['a path with a name in capitals', '/devstore1/dead-letters/PROBE1/2026/1/2/3/x.json'],
    ['the path of a resource', '/x/providers/Microsoft.EventGrid/eventSubscriptions/p1n2abcD'],
    ['the time of an event', '2026-01-05T14:07:09.1234567Z'],
  ])('shows %s as what it is', (_what, given, shown = given) => expect(scrubber.text(given)).toBe(shown))
})

it.each([
  ["Resource group 'rg' was not found", "Resource group '{group}' was not found"],
  ['RG', '{group}'],
  ['/resourcegroups/rg/x', '/resourceGroups/{group}/x'],
  ['%2frg%2f', '%2f{group}%2f'],
  ['the target of an argument', 'the target of an argument'],
])('a short name of a group is hidden as a word: %s', (given, shown) => {
  expect(createScrubber({ ...known, resourceGroup: 'rg' }).text(given)).toBe(shown)
})

it('shows of a link in a header the api-version alone', () => {
  const link = 'https://management.azure.com/op/1?api-version=2025-02-15&any=abc&t=1'
  expect(createScrubber(known).link(link)).toBe('{arm}/op/1?api-version=2025-02-15&any={secret}&t={secret}')
})

it('hides members by their names, whatever they hold', () => {
  const secrets = { key1: 'k', accountSasToken: 'x', validationCode: 'y' }
  const people = { principalId: 'p', createdBy: 'jane' }
  const hidden = (members: object, word: string) => Object.fromEntries(Object.keys(members).map((name) => [name, word]))
  const others = { name: 'open', n: 5 }
  expect(createScrubber(known).value([{ ...secrets, ...people, ...others }])).toEqual([
    { ...hidden(secrets, '{secret}'), ...hidden(people, '{guid}'), ...others },
  ])
})

/** All texts and names in a value, as they are before JSON escapes them. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      yield name
      yield* textsIn(one)
    }
  }
}

/** Texts of which none is a part of a word that a record may show. */
const secrets = fc.array(
  fc.oneof(
    fc.base64String({ minLength: 12, maxLength: 60 }),
    fc.string({ minLength: 12, maxLength: 40, unit: 'grapheme-ascii' }).filter((text) => text.trim() === text),
    fc.uuid(),
  ),
  { minLength: 1, maxLength: 4 },
)
const spelled = fc.constantFrom<(secret: string) => string>(
  (secret) => secret,
  encodeURIComponent,
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => JSON.stringify(secret),
  (secret) => encodeURIComponent(secret).replaceAll('%20', '+'),
  (secret) => secret.toUpperCase(),
  (secret) => secret.replace(/[^a-z\d]/gi, (mark) => `&#${mark.charCodeAt(0)};`),
  (secret) => Buffer.from(`a${secret}`).toString('base64'),
  (secret) => Buffer.from(`ab${secret}`).toString('base64url'),
)
const place = fc.constantFrom('path', 'query', 'body', 'member', 'text', 'answer', 'header', 'name')

it('leaves no secret of a run in a record, wherever it stood and however it was spelled', () => {
  fc.assert(
    fc.property(secrets, spelled, place, (texts, spell, where) => {
      const scrubber = createScrubber(known)
      for (const one of texts) scrubber.learn(one)
      const shown = texts.map(spell).join(' and ')
      const at = (one: string, other: unknown) => (where === one ? `before ${shown} after` : other)
      const exchange: Exchange = {
        request: {
          ...{ asked: 'arm', method: 'PUT' },
          url: `https://management.azure.com/a${where === 'path' ? `/${encodeURIComponent(shown)}` : ''}?b=${where === 'query' ? encodeURIComponent(shown) : ''}`,
          headers: {
            authorization: `Bearer ${shown}`,
            'aeg-sas-key': shown,
            'ce-id': String(at('header', 'one')).replace(/\n/g, ''),
          },
          body:
            where === 'text'
              ? `${shown}`
              : { member: at('member', 1), [where === 'name' ? shown : 'x']: [at('body', 2)] },
        },
        answer: {
          status: 200,
          headers: { location: `https://management.azure.com/?${where === 'query' ? encodeURIComponent(shown) : ''}` },
          body: { value: [at('answer', 3)] },
        },
      }
      const record = [...textsIn(recordedExchanges([exchange], scrubber))].join('\n')
      for (const one of texts) {
        for (const form of [one, encodeURIComponent(one), Buffer.from(one).toString('base64').replace(/=+$/, '')]) {
          expect(record.toLowerCase().includes(form.toLowerCase())).toBe(false)
        }
      }
    }),
    { numRuns: 500 },
  )
})
