import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { toString as textOf } from 'mdast-util-to-string'
import { visit } from 'unist-util-visit'
import { expect, it } from 'vitest'
import { pages, readPage, root, section } from './page.ts'

const docs = pages.filter(({ path }) => path.startsWith('docs/'))
const docsOfPackages = pages.filter(({ path }) => /^packages\/[^/]+\/docs\//.test(path))

it('README.md is a page for one sitting', () => {
  const { size } = statSync(join(root, 'README.md'))
  expect(size).toBeGreaterThan(10_000)
  expect(size).toBeLessThan(12_000)
})

it('CONTRIBUTING.md has at most 10 kB', () => {
  expect(statSync(join(root, 'CONTRIBUTING.md')).size).toBeLessThanOrEqual(10_000)
})

it.each([
  { readme: 'README.md', title: 'Documents', listed: docs },
  { readme: 'packages/emulator/README.md', title: 'Pages', listed: docsOfPackages },
])('$readme links each page once in its list', ({ readme, title, listed }) => {
  const links: string[] = []
  for (const node of section(readPage(readme), title))
    visit(node, 'link', ({ url }) => void links.push(join(dirname(readme), url)))
  for (const { path } of listed) expect(links.filter((link) => link === path)).toEqual([path])
})

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
