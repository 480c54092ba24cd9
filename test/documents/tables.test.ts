import { expect, it } from 'vitest'
import { bindingErrorCodes } from '../../src/index.ts'
import { renderMetadataTable } from '../support/metadata-table.ts'
import { codeIn, readPage, rowsOf, section, sourceOf, tables } from './page.ts'

it('lists every metadata field as the table of fields has it', () => {
  const page = readPage('docs/metadata.md')
  const shown = tables(page.tree.children).map((table) => sourceOf(page, table))
  // To bring it up to date: paste what this expects.
  expect(shown).toContain(renderMetadataTable())
})

it('lists every error code once, in order', () => {
  const page = readPage('docs/errors.md')
  const [codes] = tables(section(page, 'Codes'))
  expect(codes && rowsOf(page, codes).flatMap(([code = '']) => codeIn(code))).toEqual([...bindingErrorCodes])
})
