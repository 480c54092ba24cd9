import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'node:util'
import { expect, it, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseComponents } from '../../src/index.ts'
import { parseMetadata } from '../../src/metadata/parse-metadata.ts'
import { blocks, pages, placeOf, root } from './page.ts'

const found = (language: string) =>
  pages.flatMap((page) =>
    blocks(page, language).map((block) => ({ place: placeOf(page, block), page, code: block.value })),
  )

const secrets = { 'event-grid': { clientSecret: 'a secret', accessKey: 'a key', namespaceKey: 'a key' } }

it.each(found('yaml').filter(({ code }) => code.includes('kind: Component')))(
  'the component at $place is valid',
  ({ code }) => {
    const components = parseComponents(code, { secrets })
    expect(components.map(({ name }) => name)).toEqual(['orders'])
    for (const { name, properties } of components)
      expect(parseMetadata(properties, { componentName: name }).warnings).toEqual([])
  },
)

it.each(found('yaml'))('the YAML at $place is valid', ({ code }) => {
  for (const document of parseAllDocuments(code)) expect('errors' in document && document.errors).toEqual([])
})

it.each(found('json'))('the JSON at $place is valid', ({ code }) => {
  expect(() => JSON.parse(code)).not.toThrow()
})

/** What a program prints is the block of text that follows it. */
const programs = pages.flatMap((page) =>
  page.tree.children.flatMap((node, at) => {
    // The tests of examples/unit-test run those that hold tests.
    if (node.type !== 'code' || node.lang !== 'ts' || /from '(vitest|node:test)'/.test(node.value)) return []
    const next = page.tree.children[at + 1]
    const output = next?.type === 'code' && next.lang === 'text' ? next.value : ''
    return [{ place: placeOf(page, node), code: node.value, output }]
  }),
)

it.each(programs)('the program at $place runs', async ({ place, code, output }) => {
  const folder = join(root, '.cache/documents')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${place.replaceAll(/\W/g, '-')}.ts`)
  writeFileSync(file, code)
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    await import(/* @vite-ignore */ file)
    expect(log.mock.calls.map((call) => format(...call)).join('\n')).toBe(output)
  } finally {
    log.mockRestore()
  }
})
