import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { parseComponents } from '../../../src/index.ts'
import { readRegularFile, readRegularFileSync } from '../../../src/support/files/regular-file.ts'
import { place } from '../../support/place.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { thrownBy } from '../../support/thrown.ts'

const caseOf = (name: string) => readFileSync(resolve(import.meta.dirname, '../../fixtures/components', name), 'utf8')
const refusedText = (text: string) => thrownBy(() => parseComponents(text, { file: 'orders.yaml' }))

it.each([
  { name: 'double', text: caseOf('unclosed-quote.yaml'), at: 'orders.yaml:12:12' },
  { name: 'single', text: "a: 'b'\nc: 'd\n\n\n", at: 'orders.yaml:2:4' },
  { name: 'in brackets', text: 'a: [b, "c]\nd: e\n', at: 'orders.yaml:1:8' },
])('places an unclosed quote ($name) on its line', ({ text, at }) => {
  expect(refusedText(text).issues).toMatchObject([
    { at: place(at), rule: 'is not valid YAML here: the quote that closes this one is missing' },
  ])
})

it('reads a file with any byte order mark', async () => {
  const file = join(temporaryFolder(), 'secrets.json')
  const text = '{"ä":"1"}'
  const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
  for (const bytes of [Buffer.from(text), Buffer.from(`\uFEFF${text}`), utf16, Buffer.from(utf16).swap16()]) {
    writeFileSync(file, bytes)
    expect([await readRegularFile(file), readRegularFileSync(file)]).toEqual([text, text])
  }
})
