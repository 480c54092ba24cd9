import { describe, expect, it } from 'vitest'
import { readComponentFile } from '../../../src/metadata/component/component-file.ts'
import { markedComponent } from './marked-component.ts'

describe('an entry', () => {
  const read = (...entries: readonly string[]) => {
    const head = 'apiVersion: dapr.io/v1alpha1\nkind: Component\nmetadata: { name: a }\nspec:\n  type: b\n  metadata:\n'
    const { drafts } = readComponentFile(head + entries.map((entry) => `    - ${entry}\n`).join(''), 'f.yaml')
    return { entries: drafts[0]?.entries ?? [], issues: drafts[0]?.issues ?? [] }
  }

  it.each([
    ['{ name: a, value: x }', { kind: 'value', value: 'x' }],
    ['{ name: a, value: 5 }', { kind: 'value', value: 5 }],
    ['{ name: a, value: false }', { kind: 'value', value: false }],
    ['{ name: a, value: }', { kind: 'value', value: '' }],
    ['{ name: a }', { kind: 'value', value: '' }],
    ['{ name: a, envRef: X }', { kind: 'envRef', variable: 'X' }],
    ['{ name: a, secretKeyRef: { name: s } }', { kind: 'secretKeyRef', reference: { name: 's', key: 's' } }],
    ['{ name: a, secretKeyRef: { name: s, key: k } }', { kind: 'secretKeyRef', reference: { name: 's', key: 'k' } }],
    ['{ name: a, secretKeyRef: { name: s, key: "" } }', { kind: 'secretKeyRef', reference: { name: 's', key: 's' } }],
    ['{ name: a, secretKeyRef: { name: s, key: } }', { kind: 'secretKeyRef', reference: { name: 's', key: 's' } }],
  ])('%s has its source', (entry, source) => {
    expect(read(entry)).toMatchObject({ entries: [{ name: 'a', source }], issues: [] })
  })

  it.each([
    ['{ name: a, value: [x] }', 'must be a string, not a list or a mapping', '[x]'],
    ['{ name: a, value: { x: y } }', 'must be a string, not a list or a mapping', '{ x'],
    ['{ name: a, envRef: "" }', 'must have an envRef that names a variable', '""'],
    ['{ name: a, envRef: 5 }', 'must have an envRef that names a variable', '5 }'],
    ['{ name: a, secretKeyRef: s }', 'must have a secretKeyRef with a name and a key', 's }'],
    ['{ name: a, secretKeyRef: { name: "" } }', 'must have a secretKeyRef with a name and a key', '{ name: ""'],
    ['{ name: a, secretKeyRef: { name: s, key: 5 } }', 'must have a secretKeyRef with a name and a key', '{ name: s'],
    ['{ name: a, envRef: X, value: x }', 'has value and envRef', 'x }'],
    ['{ name: a, secretKeyRef: { name: s }, envRef: X }', 'has secretKeyRef and envRef', '{ name: s'],
    ['{ name: a, vlaue: x }', 'has the unknown key "vlaue"', 'a,'],
    ['{ name: a, value:MARKED }', 'has a key with other characters than letters: write a space after each colon', 'a,'],
  ])('%s is a fault at its value', (entry, rule, place) => {
    const { entries, issues } = read(entry)
    expect(entries).toMatchObject([{ name: 'a', source: { kind: 'faulty' } }])
    expect(issues).toMatchObject([{ field: 'a', rule, at: { line: 7, column: 7 + entry.lastIndexOf(place) } }])
  })

  it.each(['x', '{ value: x }', '{ name: "", value: x }', '{ name: 5 }'])('without a name is a fault: %s', (entry) => {
    const field = 'spec.metadata[1]'
    const rule = 'must be an entry with a name and a value'
    expect(read('{ name: a }', entry)).toMatchObject({ entries: [{ name: 'a' }], issues: [{ field, rule }] })
  })

  it('that is given twice is a fault at its second name', () => {
    const issues = [{ field: 'a', rule: 'is given twice', at: { line: 8, column: 15 } }]
    expect(read('{ name: a }', '{ name: a, value: x }')).toMatchObject({ issues })
  })
})

describe('a file', () => {
  const component = (name: string) =>
    `{ apiVersion: a/v1alpha1, kind: Component, metadata: { name: ${name} }, spec: { type: b } }`
  const namesOf = (yaml: string) => readComponentFile(yaml, 'f.yaml').drafts.map(({ name }) => name)

  it.each([
    ['a document', component('a'), ['a']],
    ['several documents, one of them empty', `${component('a')}\n---\n---\n${component('b')}`, ['a', 'b']],
    ['a list of kubectl, which is another kind', `kind: List\nitems:\n- ${component('a')}`, []],
  ])('has the components of %s', (_name, yaml, names) => expect(namesOf(yaml)).toEqual(names))

  it.each([
    ['kind: ComponentLis', ['kind "ComponentLis" is unknown; did you mean Component?'], []],
    ['kind: Com', ['kind "Com" is unknown; did you mean Component?'], []],
    ['kind: Deployment', [], ['kind "Deployment" is left out']],
    ['kind: "Component "', [], []],
  ])('tells of another kind whether a component was meant: %s', (yaml, mistakes, leftOut) => {
    const read = readComponentFile(yaml, 'f.yaml')
    expect(read.mistakes.map(({ rule }) => rule)).toEqual(mistakes)
    expect(read.leftOut.map(({ rule }) => rule)).toEqual(leftOut)
  })

  it.each([
    ['scopes: [shop]', { scopes: ['shop'], secretStore: undefined }],
    ['scopes:', { scopes: [], secretStore: undefined }],
    ['auth:', { scopes: [], secretStore: undefined }],
    ['auth: {}', { scopes: [], secretStore: undefined }],
    ['auth: { secretStore: }', { scopes: [], secretStore: undefined }],
    ['auth: { secretStore: "" }', { scopes: [], secretStore: undefined }],
    ['auth: { secretStore: vault }', { scopes: [], secretStore: 'vault' }],
  ])('takes %s', (more, expected) => {
    const [draft] = readComponentFile(`${markedComponent.trim()}\n${more}\n`.replace(/, valeu: x/, ''), 'f.yaml').drafts
    expect(draft).toMatchObject({ ...expected, issues: [] })
  })
})
