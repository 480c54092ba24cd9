import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { pagesWithFigures, withFigures } from './figures.ts'
import { root } from './page.ts'

const textOf = (path: string) => readFileSync(join(root, path), 'utf8')

it.each(pagesWithFigures)('%s has the figures of bench/RESULTS.md', (path) => {
  // `npm run docs:figures` writes them.
  expect(textOf(path)).toBe(withFigures(textOf(path), textOf('bench/RESULTS.md')))
})
