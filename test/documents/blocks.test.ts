import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, promisify } from 'node:util'
import { expect, it, vi } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { parseComponents } from '../../src/index.ts'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { blocks, pages, placeOf, root } from './page.ts'

const found = (language: string) =>
  pages.flatMap((page) =>
    blocks(page, language).map((block) => ({ place: placeOf(page, block), page, code: block.value })),
  )

const secrets = {
  'event-grid': {
    ...{ clientSecret: 'a secret', deliveryToken: 'a token of the deliveries' },
    ...{ accessKey: 'a key', namespaceKey: 'a key' },
  },
}

it.each(found('yaml').filter(({ code }) => code.includes('type: bindings.')))(
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

const programs = pages.flatMap((page) =>
  page.tree.children.flatMap((node, at) => {
    if (node.type !== 'code' || !['js', 'ts'].includes(node.lang ?? '')) return []
    const next = page.tree.children[at + 1]
    return [
      {
        place: placeOf(page, node),
        code: node.value,
        extension: node.lang === 'js' ? 'mjs' : 'ts',
        // What a program prints is the block of text that follows it.
        output: next?.type === 'code' && next.lang === 'text' ? next.value : '',
      },
    ]
  }),
)
const isTest = ({ code }: { code: string }) => code.includes("from 'node:test'")
// Those that hold tests of vitest are files of examples/unit-test too.
const isOfVitest = ({ code }: { code: string }) => code.includes("from 'vitest'")

function save({ place, code, extension }: (typeof programs)[number]): string {
  const folder = join(root, '.cache/documents')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${place.replaceAll(/\W/g, '-')}.${extension}`)
  writeFileSync(file, code)
  return file
}

it.each(programs.filter((program) => !isTest(program) && !isOfVitest(program)))(
  'the program at $place runs',
  async (program) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    try {
      await import(/* @vite-ignore */ save(program))
      expect(log.mock.calls.map((call) => format(...call)).join('\n')).toBe(program.output)
    } finally {
      log.mockRestore()
    }
  },
)

it.each(programs.filter(isTest))('the test at $place passes', async (program) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', save(program)])
  expect(stdout).toMatch(/^# pass [1-9]/m)
})
