import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it, vi } from 'vitest'
import { bindingErrorCodes, parseComponents } from '../src/index.ts'
import { parseMetadata } from '../src/metadata/parse-metadata.ts'
import { renderMetadataTable } from './support/metadata-table.ts'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')

/** The first code block of a language after a heading. */
function block(language: string, heading: string): string {
  const after = readme.slice(readme.indexOf(`\n## ${heading}\n`))
  const [, code] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(after) ?? []
  if (code === undefined) throw new Error(`README has no ${language} block under ${heading}`)
  return code
}

it('lists every metadata field as the table of fields has it', () => {
  const marked = /<!-- metadata-table -->\n(.*?)\n<!-- \/metadata-table -->/s.exec(readme)?.[1]
  // To bring it up to date: paste what this expects between the two marks.
  expect(marked).toBe(renderMetadataTable())
})

it.each(bindingErrorCodes)('lists the error code %s', (code) => {
  expect(readme).toContain(`\n| \`${code}\` |`)
})

it('shows a component that is valid', () => {
  const components = parseComponents(block('yaml', 'A component'), {
    secrets: { 'event-grid': { clientSecret: 'a secret', accessKey: 'a key' } },
  })
  expect(components.map(({ name }) => name)).toEqual(['orders'])
  const { input, output, warnings } = parseMetadata(components[0]?.properties ?? {}, { componentName: 'orders' })
  expect(input?.handshakePort).toBe(9000)
  expect(output?.topicEndpoint).toBe('https://orders.westeurope-1.eventgrid.azure.net/api/events')
  expect(warnings).toEqual([])
})

it('shows library code that runs', async () => {
  const folder = resolve(root, '.cache')
  mkdirSync(folder, { recursive: true })
  const file = resolve(folder, 'readme-library.ts')
  writeFileSync(file, block('ts', 'The library'))
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  try {
    await import(/* @vite-ignore */ file)
    expect(printed.mock.calls).toEqual([['handled', 'order.placed', { order: 1 }]])
  } finally {
    printed.mockRestore()
  }
})
