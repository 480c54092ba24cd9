import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml'
import type { MetadataIssue } from '../core/errors.ts'

const longestText = 262_144
const mostDocuments = 1000
const mostAliases = 100
const mostErrors = 10

/** One document of a YAML text, with a way to tell where its parts stand. */
export interface YamlDocument {
  readonly value: unknown
  /** Where the part at a path stands, or the nearest part around it: `file:line:column`. */
  at(path: readonly (string | number)[]): string
  /** What YAML allows and a component must not have: a key twice in one mapping, a tag that nobody knows. */
  readonly oddities: readonly MetadataIssue[]
}

/** Reads the documents of a YAML text; faults of syntax go to `issues`, and what has one is left out. */
export function readYaml(text: string, file: string, issues: MetadataIssue[]): readonly YamlDocument[] {
  if (text.length > longestText) {
    issues.push({ rule: `must be at most ${longestText} characters long`, at: `${file}:1:1` })
    return []
  }
  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  // Keys twice are looked for below: the parser's own search compares every key with every other.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, uniqueKeys: false } as const
  const parsed = parseAllDocuments(text, options)
  if (parsed.length > mostDocuments) {
    issues.push({ rule: `must hold at most ${mostDocuments} documents`, at: `${file}:1:1` })
    return []
  }
  const documents: YamlDocument[] = []
  for (const document of parsed) {
    const before = issues.length
    for (const { code, pos } of document.errors.slice(0, mostErrors)) {
      issues.push({ rule: syntaxRules.get(code) ?? 'is not valid YAML here', at: place(pos[0]) })
    }
    const value = issues.length === before ? toValue(document, place, issues) : undefined
    if (issues.length > before) continue
    const at = (path: readonly (string | number)[]) => place(nodeAt(document, path)?.range?.[0] ?? 0)
    documents.push({ value, at, oddities: [...unknownTags(document, place), ...keysTwice(document, place)] })
  }
  return documents
}

/** Our own words by the parser's code: its messages quote the text, which may be secret. */
const syntaxRules: ReadonlyMap<string, string> = new Map([
  ['BAD_ALIAS', 'is not valid YAML here: an alias without an anchor'],
  ['BAD_DQ_ESCAPE', 'is not valid YAML here: an unknown escape in double quotes'],
  ['BAD_INDENT', 'is not valid YAML here: wrong indentation'],
  ['BLOCK_AS_IMPLICIT_KEY', 'is not valid YAML here: a mapping or list where a value on one line belongs'],
  ['BLOCK_IN_FLOW', 'is not valid YAML here: a block within brackets'],
  ['KEY_OVER_1024_CHARS', 'is not valid YAML here: a key of over 1024 characters'],
  ['MISSING_CHAR', 'is not valid YAML here: a quote, bracket, colon, comma or space is missing'],
  ['MULTILINE_IMPLICIT_KEY', 'is not valid YAML here: a key over several lines'],
  ['NON_STRING_KEY', 'is not valid YAML here: a key that is no text'],
  ['RESOURCE_EXHAUSTION', 'is nested too deep'],
  ['TAB_AS_INDENT', 'is not valid YAML here: a tab as indentation'],
  ['UNEXPECTED_TOKEN', 'is not valid YAML here: something unexpected'],
])

function toValue(document: Document, place: (offset: number) => string, issues: MetadataIssue[]): unknown {
  try {
    return document.toJS({ maxAliasCount: mostAliases })
  } catch (error) {
    // The parser throws ReferenceError for an alias bomb and RangeError where nesting outgrows the stack.
    const rule =
      error instanceof RangeError
        ? 'is nested too deep'
        : `holds an alias without an anchor, or aliases that stand for too much (${mostAliases} at most)`
    issues.push({ rule, at: place(document.range?.[0] ?? 0) })
    return undefined
  }
}

function nodeAt(document: Document, path: readonly (string | number)[]) {
  let node = document.contents
  for (const part of path) {
    const next: unknown = isCollection(node) ? node.get(part, true) : undefined
    if (!isNode(next)) break
    node = next
  }
  return node
}

const unknownTags = (document: Document, place: (offset: number) => string): readonly MetadataIssue[] =>
  document.warnings.map(({ pos }) => ({ rule: 'has a tag or directive that is not known', at: place(pos[0]) }))

function keysTwice(document: Document, place: (offset: number) => string): readonly MetadataIssue[] {
  const issues: MetadataIssue[] = []
  visit(document, {
    Map(_, map) {
      if (!isMap(map)) return
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) {
          issues.push({
            rule: `has the key ${JSON.stringify(String(key.value).slice(0, 64))} twice`,
            at: place(key.range?.[0] ?? 0),
          })
        }
        seen.add(key.value)
      }
    },
  })
  return issues.slice(0, mostErrors)
}
