/** YAML with the line and column of each value, and what is wrong with it in words. */
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml'

export interface YamlPlace {
  readonly line: number
  readonly column: number
}

/** The way to a value in a document: keys and indexes. */
export type YamlPath = readonly (string | number)[]

/** A range of a text, in UTF-16 code units: from `start` up to `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** One fault of a YAML text. It quotes nothing but keys: values may be secret. */
export interface YamlFault {
  readonly place: YamlPlace
  /** The fault in words, as a predicate: `has the key "a" twice`. */
  readonly rule: string
}

/** One scalar of a document: a value, or the key of a mapping. */
export interface LocatedScalar {
  /** The way to the value, or to the mapping and the key in it. */
  readonly path: YamlPath
  readonly isKey: boolean
  readonly text: string
  readonly span: Span
}

/** One document of a YAML text, with the place of each value in it. */
export interface LocatedDocument {
  readonly value: unknown
  /** The place of the value at a path, or of the nearest value around it. */
  placeOf(path: YamlPath): YamlPlace
  /** The place of a key of the mapping at a path; that of the mapping where it has no such key. */
  placeOfKey(path: YamlPath, key: string): YamlPlace
  /** Keys that a mapping has twice, and unknown tags: YAML allows them, and most readers do not. */
  readonly duplicateKeys: readonly YamlFault[]
  readonly unknownTags: readonly YamlFault[]
  /** All scalars, in the order of the text. */
  scalars(): readonly LocatedScalar[]
}

export interface LocatedYaml {
  readonly documents: readonly LocatedDocument[]
  /** Why reading stopped. A syntax error makes nonsense of what follows, so there is only one. */
  readonly fault: YamlFault | undefined
}

const tooDeep = 'is nested too deep'
const unknownTag = 'has a tag or directive that is not known'
const maxAliases = 100
const maxOddities = 10

/** Reads a YAML text in one pass. An invalid text throws no error: `fault` says what is wrong. */
export function readLocatedYaml(
  text: string,
  { maxLength, maxDocuments }: { readonly maxLength: number; readonly maxDocuments: number },
): LocatedYaml {
  const refused = (rule: string, place = { line: 1, column: 1 }) => ({ documents: [], fault: { rule, place } })
  if (text.length > maxLength) return refused(`must be at most ${maxLength} characters long`)
  const lines = new LineCounter()
  const placeAt = (offset: number): YamlPlace => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const parsed = parse(text, lines)
  if (!parsed) return refused(tooDeep)
  const surplus = parsed[maxDocuments]
  if (surplus) {
    const rule = `must hold at most ${maxDocuments} document${maxDocuments === 1 ? '' : 's'}`
    return refused(rule, placeAt(surplus.range[0]))
  }
  const documents: LocatedDocument[] = []
  for (const document of parsed) {
    const read = readDocument(document, placeAt)
    if ('rule' in read) return { documents, fault: read }
    documents.push(read)
  }
  return { documents, fault: undefined }
}

/** Undefined if the text nests so deep that the parser runs out of stack. */
function parse(text: string, lineCounter: LineCounter): readonly Document.Parsed[] | undefined {
  try {
    // Duplicate keys are found below: the parser's own search compares every key with every other.
    const options = { lineCounter, prettyErrors: false, stringKeys: true, uniqueKeys: false } as const
    return [...parseAllDocuments(text, options)]
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function readDocument(document: Document.Parsed, placeAt: (offset: number) => YamlPlace): LocatedDocument | YamlFault {
  const [error] = document.errors
  if (error) {
    const open = openQuote(document, error)
    return open === undefined ? syntaxFault(error, placeAt(error.pos[0])) : { place: placeAt(open), rule: unclosed }
  }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: maxAliases })
  } catch (error) {
    // The parser throws ReferenceError for too many aliases, and RangeError where nesting outgrows the stack.
    const place = placeAt(firstAlias(document))
    if (error instanceof RangeError) return { place, rule: tooDeep }
    const rule = `holds an alias without an anchor, or aliases that expand to too much (${maxAliases} at most)`
    return { place, rule }
  }
  const nodeAt = (path: YamlPath): unknown => {
    let node: unknown = document.contents
    for (const part of path) {
      const next: unknown = isCollection(node) ? node.get(part, true) : undefined
      if (!isNode(next)) break
      node = next
    }
    return node
  }
  const placeOf = (node: unknown) => placeAt(isNode(node) ? (node.range?.[0] ?? 0) : 0)
  return {
    value,
    placeOf: (path) => placeOf(nodeAt(path)),
    placeOfKey(path, key) {
      const node = nodeAt(path)
      const pair = isMap(node) ? node.items.find((item) => isScalar(item.key) && item.key.value === key) : undefined
      return placeOf(pair?.key ?? node)
    },
    duplicateKeys: duplicateKeys(document, placeOf),
    unknownTags: document.warnings.map(({ pos }) => ({ place: placeAt(pos[0]), rule: unknownTag })),
    scalars: () => scalarsOf(document),
  }
}

const syntax = 'is not valid YAML here'

const unclosed = `${syntax}: the quote that closes this one is missing`

/** Where the quote begins that swallows the rest of a text. The parser reports the end, where nobody looks. */
function openQuote(document: Document.Parsed, { code, pos }: Document.Parsed['errors'][number]): number | undefined {
  let open: number | undefined
  if (code !== 'MISSING_CHAR') return undefined
  visit(document, {
    Scalar(_key, { type, range }) {
      const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE'
      if (isQuoted && range && range[0] < pos[0] && range[2] >= pos[0]) open = range[0]
    },
  })
  return open
}

/** In words that are made of the parser's code, such as BAD_INDENT: its messages quote the text, which may be secret. */
function syntaxFault({ code, message }: Document.Parsed['errors'][number], place: YamlPlace): YamlFault {
  if (code === 'RESOURCE_EXHAUSTION' || /stack (size|overflow)/i.test(message)) return { place, rule: tooDeep }
  return { place, rule: `${syntax}: ${code.toLowerCase().replaceAll('_', ' ')}` }
}

function firstAlias(document: Document.Parsed): number {
  let offset = document.range[0]
  visit(document, {
    Alias(_key, { range }) {
      offset = range?.[0] ?? offset
      return visit.BREAK
    },
  })
  return offset
}

function duplicateKeys(document: Document, placeOf: (node: unknown) => YamlPlace): readonly YamlFault[] {
  const faults: YamlFault[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        if (seen.has(key.value)) {
          const rule = `has the key ${JSON.stringify(String(key.value).slice(0, 64))} twice`
          faults.push({ place: placeOf(key), rule })
        }
        seen.add(key.value)
      }
    },
  })
  return faults.slice(0, maxOddities)
}

function scalarsOf(document: Document.Parsed): readonly LocatedScalar[] {
  const found: LocatedScalar[] = []
  const add = (node: unknown, path: YamlPath, isKey: boolean): void => {
    if (!isScalar(node) || !node.range) return
    const [start, end] = node.range
    found.push({ path, isKey, text: String(node.value), span: { start, end } })
  }
  const walk = (node: unknown, path: YamlPath): void => {
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        const valuePath = [...path, isScalar(key) ? String(key.value) : '']
        add(key, valuePath, true)
        walk(value, valuePath)
      }
    } else if (isCollection(node)) {
      for (const [index, item] of node.items.entries()) walk(item, [...path, index])
    } else add(node, path, false)
  }
  walk(document.contents, [])
  return found
}
