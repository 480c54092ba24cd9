import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Entry, readEntries } from '../../../src/sidecar/replay/read-entries.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

async function entriesOf(path: string, content: string | Buffer): Promise<readonly Entry[]> {
  writeFileSync(path, content)
  const entries: Entry[] = []
  for await (const entry of readEntries(path)) entries.push(entry)
  return entries
}

/** What `JSON.parse` makes of a whole text: the entries, or `undefined` where it is no JSON. */
function expected(text: string): readonly Entry[] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).map((one: unknown) => ({ value: one }))
  } catch {
    return undefined
  }
}

const broken = { fault: 'it is not valid JSON; was it downloaded to its end?', of: 'file' }

it('reads what JSON.parse reads, and refuses what that refuses, also broken off and changed', async () => {
  const path = join(temporaryFolder(), 'a.json')
  const json = fc.json({ maxDepth: 3 })
  const damage = fc.record({
    at: fc.nat(),
    cut: fc.nat({ max: 3 }),
    put: fc.constantFrom('', ',', ']', '[', '"', '\\', '}', '{', ' ', '1'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(json, { maxLength: 4 }), fc.option(damage), async (items, damaged) => {
      const whole = ` [ ${items.join(' ,\n')}]\t`
      const at = damaged ? damaged.at % (whole.length + 1) : 0
      const text = damaged ? whole.slice(0, at) + damaged.put + whole.slice(at + damaged.cut) : whole
      const entries = await entriesOf(path, text)
      const right = expected(text)
      if (right === undefined) expect(entries.at(-1)).toEqual(broken)
      else expect(JSON.stringify(JSON.parse(JSON.stringify(entries)))).toBe(JSON.stringify(right))
    }),
    { numRuns: 300 },
  )
})

it.each([
  { name: 'nothing', content: '', says: broken.fault },
  { name: 'spaces', content: ' \n ', says: broken.fault },
  { name: 'two values', content: '[1] [2]', says: broken.fault },
  { name: 'an array that ends with a brace', content: '[1}', says: broken.fault },
  { name: 'a comma at the end', content: '[1,]', says: broken.fault },
  { name: 'no value between two commas', content: '[1,,2]', says: broken.fault },
  { name: 'something behind the array', content: '[]x', says: broken.fault },
  { name: 'something behind the value', content: '{} {}', says: broken.fault },
  { name: 'other bytes', content: Buffer.from([0x5b, 0x22, 0xe4, 0x22, 0x5d]), says: 'it is not UTF-8' },
  {
    name: 'an entry that is too large',
    content: `["${'x'.repeat(9_000_000)}"]`,
    says: /an entry is larger than 8388608/,
  },
])('refuses a file with $name', async ({ content, says }) => {
  const entries = await entriesOf(join(temporaryFolder(), 'a.json'), content)
  const fault = says instanceof RegExp ? expect.stringMatching(says) : says
  expect(entries.at(-1)).toEqual({ fault, of: 'file' })
})

it('goes on behind an entry that is nested too deep, and reads one over several parts of the file, and a byte order mark', async () => {
  const deep = `${'['.repeat(1_100)}${']'.repeat(1_100)}`
  const long = 'ä'.repeat(400_000)
  const entries = await entriesOf(join(temporaryFolder(), 'a.json'), `\ufeff[${deep},"${long}",{"a":"]},["}]`)
  expect(entries).toEqual([
    { fault: 'it is nested deeper than 1000 levels', of: 'entry' },
    { value: long },
    { value: { a: ']},[' } },
  ])
})

it('reads an entry as large as is allowed, and the entries before one that is too large', async () => {
  const path = join(temporaryFolder(), 'a.json')
  const room = 8 * 1024 ** 2 - 100
  const large = 'x'.repeat(room)
  expect(await entriesOf(path, `["${large}" ,1]`)).toEqual([{ value: large }, { value: 1 }])
  const entries = await entriesOf(path, `[1,"${'x'.repeat(room + 1_000_000)}"]`)
  expect(entries).toEqual([{ value: 1 }, { fault: expect.stringContaining('larger than'), of: 'file' }])
})

it.each([
  { content: '[]', entries: [] },
  { content: ' [ ] ', entries: [] },
  { content: '\ufeff{"a":1}', entries: [{ value: { a: 1 } }] },
  { content: '  \ufeff[1]', entries: [{ value: 1 }] },
  { content: ' "a,b]" ', entries: [{ value: 'a,b]' }] },
  { content: '["\\"",{"\\\\":[",]"]}]', entries: [{ value: '"' }, { value: { '\\': [',]'] } }] },
  { content: '\r\n[1\t,\r\n2 ]\n', entries: [{ value: 1 }, { value: 2 }] },
])('reads the $entries.length entries of case $#', async ({ content, entries }) => {
  expect(await entriesOf(join(temporaryFolder(), 'a.json'), content)).toEqual(entries)
})

it('says of a file that is not there, or is none, why it is not read', async () => {
  const folder = temporaryFolder()
  for (const [path, says] of [
    [join(folder, 'nothing'), /ENOENT/],
    [folder, /EISDIR|not a regular file|folder/],
  ] as const) {
    const entries: Entry[] = []
    for await (const entry of readEntries(path)) entries.push(entry)
    expect(entries).toEqual([{ fault: expect.stringMatching(says), of: 'file' }])
  }
})
