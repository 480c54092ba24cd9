import { statSync } from 'node:fs'
import { join } from 'node:path'
import { toString as textOf } from 'mdast-util-to-string'
import { visit } from 'unist-util-visit'
import { expect, it } from 'vitest'
import { pages, readPage, root, section } from './page.ts'

const docs = pages.filter(({ path }) => /^(packages\/\w+\/)?docs\//.test(path))

it('README.md is a page for one sitting', () => {
  const { size } = statSync(join(root, 'README.md'))
  expect(size).toBeGreaterThan(10_000)
  expect(size).toBeLessThan(12_000)
})

it('README.md links each page once in its list', () => {
  const listed: string[] = []
  for (const node of section(readPage('README.md'), 'Documents'))
    visit(node, 'link', ({ url }) => void listed.push(url))
  for (const path of new Set([...docs.map(({ path }) => path).filter((path) => path.startsWith('docs/')), ...listed]))
    expect(listed.filter((url) => url === path)).toEqual([path])
})

const docsOfPackages = pages.filter(({ path }) => /^packages\/[^/]+\/docs\//.test(path))

it.each([...docs, ...docsOfPackages])('$path opens with what the reader can do', ({ tree }) => {
  const [title, first] = tree.children
  expect(title?.type).toBe('heading')
  expect(first && textOf(first)).toMatch(/^After this page you /)
})

it.each(pages.filter(({ text }) => text.includes('npx eventgrid-binding')))(
  '$path says where the program comes from',
  ({ path, text }) => {
    const title = 'where-the-program-comes-from'
    expect(text).toContain(path === 'docs/getting-started.md' ? '## Where the program comes from' : `#${title})`)
  },
)

it.each(pages)('$path has lines of prose that fit a screen', ({ path, tree, text }) => {
  const lines = text.split('\n')
  const tooLong: string[] = []
  visit(tree, 'paragraph', ({ position, children }) => {
    if (children.some(({ type }) => type === 'image')) return
    for (let line = position?.start.line ?? 1; line <= (position?.end.line ?? 0); line++)
      if ((lines[line - 1] ?? '').length > 140) tooLong.push(`${path}:${line}`)
  })
  expect(tooLong).toEqual([])
})
