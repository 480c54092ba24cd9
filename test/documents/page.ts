import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Code, Nodes, Root, RootContent, Table } from 'mdast'
import { toString as textOf } from 'mdast-util-to-string'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { Project } from 'ts-morph'
import { visit } from 'unist-util-visit'

export const root = resolve(import.meta.dirname, '../..')

/** A Markdown page of the project. */
export interface Page {
  /** Path from the root of the project. */
  readonly path: string
  readonly text: string
  readonly tree: Root
}

const parser = remark().use(remarkGfm)

const read = new Map<string, Page>()

export function readPage(path: string): Page {
  const known = read.get(path)
  if (known) return known
  const text = readFileSync(join(root, path), 'utf8')
  const page = { path, text, tree: parser.parse(text) }
  read.set(path, page)
  return page
}

/** The pages that a user reads. */
export const pages: readonly Page[] = [
  ...['*.md', 'docs/*.md', 'examples/*/README.md'],
  ...['packages/*/*.md', 'packages/*/docs/*.md', 'packages/*/examples/*/README.md'],
]
  .flatMap((pattern) => globSync(pattern, { cwd: root }).sort())
  .map(readPage)

/** The source text of a node. */
export function sourceOf(page: Page, { position }: Nodes): string {
  return page.text.slice(position?.start.offset, position?.end.offset)
}

/** Where a node is, for the message of a failure. */
export const placeOf = (page: Page, { position }: Nodes): string => `${page.path}:${position?.start.line}`

/** The nodes under a heading, its subsections included. */
export function section(page: Page, title: string): RootContent[] {
  const { children } = page.tree
  const from = children.findIndex((node) => node.type === 'heading' && textOf(node) === title)
  const heading = children[from]
  if (heading?.type !== 'heading') throw new Error(`${page.path} has no section ${title}`)
  const rest = children.slice(from + 1)
  const to = rest.findIndex((node) => node.type === 'heading' && node.depth <= heading.depth)
  return to < 0 ? rest : rest.slice(0, to)
}

/** The code blocks of a page in a language. */
export function blocks(page: Page, language: string): Code[] {
  const found: Code[] = []
  visit(page.tree, 'code', (node) => {
    if (node.lang === language) found.push(node)
  })
  return found
}

export const tables = (nodes: readonly RootContent[]): Table[] => nodes.filter((node) => node.type === 'table')

/** The rows of a table without its head; each cell as it is written. */
export function rowsOf(page: Page, table: Table): string[][] {
  return table.children.slice(1).map((row) =>
    row.children.map((cell) => {
      const [first, last] = [cell.children[0], cell.children.at(-1)]
      return page.text.slice(first?.position?.start.offset ?? 0, last?.position?.end.offset ?? 0)
    }),
  )
}

/** The code in a cell: `` `a`, `b` `` has two. */
export const codeIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** What a door exports, read from its source: types are not there when it runs. */
export function exportsOf(door: string): string[] {
  const source = new Project().addSourceFileAtPath(`${root}/${door}`)
  return source.getExportDeclarations().flatMap((one) => one.getNamedExports().map((name) => name.getName()))
}
