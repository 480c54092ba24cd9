import { Project } from 'ts-morph'
import { expect, it } from 'vitest'
import { codeIn, readPage, root, rowsOf, section, tables } from './page.ts'

/** What a door exports, read from its source: types are not there when it runs. */
function exportsOf(door: string): string[] {
  const source = new Project().addSourceFileAtPath(`${root}/src/${door}`)
  return source.getExportDeclarations().flatMap((one) => one.getNamedExports().map((name) => name.getName()))
}

it.each([
  { name: 'eventgrid-binding', door: 'index.ts' },
  { name: 'eventgrid-binding/emulator', door: 'emulator/index.ts' },
])('docs/library.md lists each export of $name once', ({ name, door }) => {
  const page = readPage('docs/library.md')
  const listed = tables(section(page, `Exports of ${name}`)).flatMap((table) =>
    rowsOf(page, table).flatMap(([first = '']) => codeIn(first)),
  )
  expect(listed.toSorted()).toEqual(exportsOf(door).toSorted())
})
