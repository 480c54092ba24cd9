import { toString as textOf } from 'mdast-util-to-string'
import { visit } from 'unist-util-visit'
import { expect, it } from 'vitest'
import { instruments } from '../../src/core/telemetry.ts'
import { bindingErrorCodes } from '../../src/index.ts'
import { logEvents } from '../../src/listener/log-events.ts'
import { metadataFields } from '../../src/metadata/fields/find-field.ts'
import { checkIds } from '../../src/sidecar/check/report.ts'
import { createMetrics } from '../../src/sidecar/shared/metrics.ts'
import { renderMetadataTable } from '../support/metadata-table.ts'
import { startTelemetry } from '../support/telemetry.ts'
import { commandHelp, optionsOf } from './command-options.ts'
import { codeIn, pages, readPage, rowsOf, section, sourceOf, tables } from './page.ts'

/** The code in the first cells of a section's tables. */
function firstCells(path: string, title: string): string[] {
  const page = readPage(path)
  return tables(section(page, title)).flatMap((table) => rowsOf(page, table).flatMap(([first = '']) => codeIn(first)))
}

/** The pages with a row whose first cell is this code, or a list that has it. */
function pagesWithRowFor(code: string): string[] {
  return pages.flatMap((page) => {
    const found: string[] = []
    visit(page.tree, 'table', (table) => {
      for (const [first = ''] of rowsOf(page, table))
        if (/^`[^`]+`(, `[^`]+`)*$/.test(first) && codeIn(first).includes(code)) found.push(page.path)
    })
    return found
  })
}

it('lists every metadata field as the table of fields has it', () => {
  const page = readPage('docs/metadata.md')
  const shown = tables(section(page, 'Fields')).map((table) => sourceOf(page, table))
  // To bring it up to date: paste what this expects.
  expect(shown).toEqual([renderMetadataTable()])
})

it.each(metadataFields)('explains the field $name once', ({ name }) => {
  expect(pagesWithRowFor(name)).toEqual(['docs/metadata.md'])
})

it('lists every error code, in order', () => {
  expect(firstCells('docs/errors.md', 'Codes')).toEqual([...bindingErrorCodes])
})

it.each(bindingErrorCodes)('explains the code %s once', (code) => {
  expect(pagesWithRowFor(code)).toEqual(['docs/errors.md'])
})

it.each([
  { name: 'run', path: 'docs/run.md', title: 'Options' },
  { name: 'serve', path: 'docs/dapr.md', title: 'Options of serve' },
  { name: 'check', path: 'docs/check.md', title: 'Options' },
  { name: 'emulate', path: 'packages/emulator/docs/emulator-facts.md', title: 'Options' },
])('lists every option of $name in $path, in the order of its help', async ({ name, path, title }) => {
  const options = optionsOf(await commandHelp(name)).map(({ usage }) => usage)
  const listed = firstCells(path, title).filter((code) => code.startsWith('--'))
  expect(listed.map((code) => code.replaceAll('\\|', '|'))).toEqual(options.filter((usage) => usage !== '--help'))
})

it.each(['init', 'schema'])('needs no table for %s, which has no option', async (name) => {
  expect(optionsOf(await commandHelp(name)).map(({ flag }) => flag)).toEqual(['--help'])
})

it('lists every metric of Prometheus once', async () => {
  const metrics = createMetrics()
  metrics.watchConfig(() => ({ successful: true, lastSuccess: new Date(), faults: [], leftOut: {} }))
  metrics.watchInit(() => true)
  metrics.watchLog(() => 0)
  const names = [...(await metrics.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name)
  const ours = names.filter((name) => name.startsWith('eventgrid_binding_'))
  expect(ours.length).toBeGreaterThan(10)
  expect(firstCells('docs/observability.md', "Prometheus' metrics").toSorted()).toEqual(ours.toSorted())
  for (const name of ours) expect(pagesWithRowFor(name)).toEqual(['docs/observability.md'])
})

it('lists every metric of OpenTelemetry once', async () => {
  const telemetry = startTelemetry()
  const made = Object.values(instruments() ?? {})
  for (const instrument of made) {
    if ('record' in instrument) instrument.record(1)
    else instrument.add(1)
  }
  const listed = firstCells('docs/observability.md', "OpenTelemetry's metrics")
  expect(listed).toHaveLength(made.length)
  for (const name of listed) {
    expect(await telemetry.metric(name), name).toHaveLength(1)
    expect(pagesWithRowFor(name)).toEqual(['docs/observability.md'])
  }
})

it('has a section for every check id, in order', () => {
  const page = readPage('docs/check.md')
  const ids = section(page, 'The checks').flatMap((node) => (node.type === 'heading' ? [textOf(node)] : []))
  expect(ids).toEqual(checkIds)
})

it.each(pages)('names only check ids that exist: $path', ({ tree }) => {
  const named: string[] = []
  visit(tree, 'inlineCode', ({ value }) => {
    if (/^(files|machine|endpoint|azure|filters|pull|topic|round-trip)\/[a-z]+$/.test(value)) named.push(value)
  })
  expect(named.filter((id) => !checkIds.some((known) => known === id))).toEqual([])
})

it('says what to do at every line of the log about requests', () => {
  expect(firstCells('docs/observability.md', 'Log lines')).toEqual(Object.values(logEvents))
})
