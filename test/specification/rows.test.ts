// Each row of specification.md quotes a line of src that stands there, so that a renamed variable is noticed at once.
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readRows } from './rows.ts'

const root = resolve(import.meta.dirname, '../..')
const rows = readRows(readFileSync(resolve(root, 'test/specification/specification.md'), 'utf8'))

it('quotes lines of src that stand there once', () => {
  const wrong = rows.filter(({ file, before }) => readFileSync(resolve(root, file), 'utf8').split(before).length !== 2)
  expect(wrong.map(({ sentence, file, before }) => ({ sentence, file, before }))).toEqual([])
})
