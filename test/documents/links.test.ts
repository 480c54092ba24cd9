import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import GithubSlugger from 'github-slugger'
import type { Definition, Image, Link } from 'mdast'
import { toString as textOf } from 'mdast-util-to-string'
import { visit } from 'unist-util-visit'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type Page, pages, placeOf, readPage, root } from './page.ts'

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: Page): Set<string> {
  const slugger = new GithubSlugger()
  const anchors = new Set<string>()
  visit(page.tree, 'heading', (heading) => void anchors.add(slugger.slug(textOf(heading))))
  return anchors
}

const links = pages.flatMap((page) => {
  const found: (Link | Image | Definition)[] = []
  visit(page.tree, ['link', 'image', 'definition'], (node) => {
    if ('url' in node && !/^\w+:/.test(node.url)) found.push(node)
  })
  return found.map((node) => ({ page, place: placeOf(page, node), url: node.url }))
})

/** What npm packs of a package, which stands in a folder: files and folders. */
const packedOf = (folder: string) =>
  [
    ...z
      .object({ files: z.array(z.string()) })
      .parse(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))).files,
    ...['README.md', 'LICENSE', 'package.json'],
  ].map((file) => join(folder, file))

/** By the folders of the packages. */
const archives = Object.fromEntries(['', 'packages/emulator'].map((folder) => [folder, packedOf(folder)]))

const isPacked = (path: string, folder = '') =>
  (archives[folder] ?? []).some((one) => path === one || path.startsWith(`${one}/`))

/** The folder of the package that a page belongs to. */
const packageOf = (path: string) => /^packages\/[^/]+/.exec(path)?.[0] ?? ''

it.each(links)('the link at $place leads somewhere: $url', ({ page, url }) => {
  const [path = '', anchor] = url.split('#')
  const target = path === '' ? page.path : normalize(join(dirname(page.path), path))
  expect(existsSync(join(root, target)), target).toBe(true)
  for (const folder of new Set(['', packageOf(page.path)])) {
    if (isPacked(page.path, folder)) expect(isPacked(target, folder), `${target} is not packed`).toBe(true)
  }
  if (anchor !== undefined) expect([...anchorsOf(readPage(target))]).toContain(anchor)
})

const files = pages.flatMap((page) => {
  const found =
    page.text.match(
      /\b(?:packages\/[\w-]+\/)?(?:src|test|bench|examples|build)\/[\w./-]+\.(?:ts|mjs|ya?ml|json|md)\b/g,
    ) ?? []
  return [...new Set(found)].map((file) => ({ path: page.path, file }))
})

it.each(files)('$path names a file that exists: $file', ({ path, file }) => {
  const folder = packageOf(path)
  expect(existsSync(join(root, folder, file))).toBe(true)
  if (folder !== '' && isPacked(path, folder))
    expect(isPacked(join(folder, file), folder), 'it is not packed').toBe(true)
})

/** Looks like a path, and is what the package exports. */
const subpath = 'eventgrid-binding/emulator'

it('CONTRIBUTING.md names files and folders of src that are there', () => {
  const { tree } = readPage('CONTRIBUTING.md')
  const named = new Set<string>()
  visit(tree, 'inlineCode', ({ value }) => {
    if (/^[a-z][\w-]*(?:\/[\w.-]+)+$/.test(value) && value !== subpath) named.add(value)
  })
  const isThere = (path: string) =>
    ['', 'src', 'packages/emulator/src'].some(
      (folder) => existsSync(join(root, folder, path)) || existsSync(join(root, folder, `${path}.ts`)),
    )
  expect(named.size).toBeGreaterThan(10)
  expect([...named].filter((path) => !isThere(path))).toEqual([])
})
