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

/** What npm packs: files and folders. */
const packed = [
  ...z.object({ files: z.array(z.string()) }).parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).files,
  ...['README.md', 'LICENSE', 'package.json'],
]
const isPacked = (path: string) => packed.some((one) => path === one || path.startsWith(`${one}/`))

it.each(links)('the link at $place leads somewhere: $url', ({ page, url }) => {
  const [path = '', anchor] = url.split('#')
  const target = path === '' ? page.path : normalize(join(dirname(page.path), path))
  expect(existsSync(join(root, target)), target).toBe(true)
  if (isPacked(page.path)) expect(isPacked(target), `${target} is not packed`).toBe(true)
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
  // A page of a package may name a file of it.
  const [folder = ''] = /^packages\/[^/]+/.exec(path) ?? []
  expect([folder, ''].some((from) => existsSync(join(root, from, file)))).toBe(true)
})
