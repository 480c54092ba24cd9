import { Project } from 'ts-morph'
import { expect, it } from 'vitest'
import { bindingErrorCodes } from '../../src/index.ts'
import { codeIn, exportsOf, readPage, root, rowsOf, section, tables } from './page.ts'

it.each([
  { name: 'eventgrid-binding', door: 'src/index.ts' },
  { name: 'eventgrid-binding/emulator', door: 'packages/emulator/src/index.ts' },
])('docs/library.md lists each export of $name once', ({ name, door }) => {
  const page = readPage('docs/library.md')
  const listed = tables(section(page, `Exports of ${name}`)).flatMap((table) =>
    rowsOf(page, table).flatMap(([first = '']) => codeIn(first)),
  )
  expect(listed.toSorted()).toEqual(exportsOf(door).toSorted())
})

// The members of these files need no other file.
const sources = new Project({ compilerOptions: { noLib: true, noResolve: true } })
const binding = sources.addSourceFileAtPath(`${root}/src/binding/binding.ts`)
const component = sources.addSourceFileAtPath(`${root}/src/binding/binding-component.ts`)
const bindingOptions = sources.addSourceFileAtPath(`${root}/src/binding/binding-options.ts`)
const page = readPage('docs/library.md')
const [options, methods, initOptions, invokeOptions] = tables(section(page, 'Binding')).map((table) =>
  rowsOf(page, table),
)
const firstWords = (rows: readonly string[][] = []) => rows.map(([cell = '']) => /\w+/.exec(cell)?.[0])

it.each([
  { name: 'BindingOptions', rows: options },
  { name: 'InitOptions', rows: initOptions },
  { name: 'InvokeOptions', rows: invokeOptions },
])('docs/library.md lists the members of $name', ({ name, rows }) => {
  const file = [bindingOptions, component].find((one) => one.getInterface(name))
  const members = file?.getInterfaceOrThrow(name).getType().getProperties() ?? []
  expect(firstWords(rows).toSorted()).toEqual(members.map((member) => member.getName()).toSorted())
})

const publicMethods = binding
  .getClassOrThrow('Binding')
  .getMethods()
  .filter((method) => /^[a-z]/.test(method.getName()))

it('docs/library.md lists the methods of Binding', () => {
  expect(firstWords(methods).toSorted()).toEqual(publicMethods.map((method) => method.getName()).toSorted())
})

it.each(publicMethods.map((method) => ({ name: method.getName(), method })))(
  'docs/library.md lists the errors that the doc comment of $name names',
  ({ name, method }) => {
    const comment = method
      .getJsDocs()
      .map((doc) => doc.getText())
      .join()
    const [, , rejects = ''] = methods?.find(([cell = '']) => cell.startsWith(`\`${name}(`)) ?? []
    const namedIn = (text: string) => bindingErrorCodes.filter((code) => new RegExp(`\\b${code}\\b`).test(text))
    // close() makes an init under way reject.
    if (name !== 'close') expect(namedIn(rejects)).toEqual(namedIn(comment))
  },
)
