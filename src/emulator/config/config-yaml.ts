import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml'

const longestText = 1_048_576
const mostAliases = 100

/** A place in a document: keys and indexes. */
export type ConfigPath = readonly (string | number)[]

/** One thing that is wrong with a configuration. */
export interface ConfigProblem {
  /** `file:line:column`. */
  readonly at: string
  /** As in `topics[0].inputSchema`; empty for the document itself. */
  readonly field: string
  /** Begins with a verb: `must be a text`. */
  readonly rule: string
}

/** A YAML text that could be read, or why not. */
export type ConfigYaml =
  | {
      readonly value: unknown
      /** A problem with a value, or with a key (`name`) of the mapping at the path. */
      problem(path: ConfigPath, rule: string, name?: string): ConfigProblem
    }
  | { readonly problems: readonly ConfigProblem[] }

/** Reads a YAML text of one document. @param file its name in problems */
export function readConfigYaml(text: string, file: string): ConfigYaml {
  const whole = (rule: string): ConfigYaml => ({ problems: [{ at: `${file}:1:1`, field: '', rule }] })
  if (text.length > longestText) return whole(`is longer than ${longestText} characters`)
  const lines = new LineCounter()
  const place = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${file}:${Math.max(line, 1)}:${Math.max(col, 1)}`
  }
  const document = parsed(text, lines)
  if (!document) return whole('is nested too deeply')
  if (document.errors.length > 0) {
    const shown = document.errors.slice(0, 10)
    return { problems: shown.map(({ pos, ...error }) => ({ at: place(pos[0]), field: '', rule: faultOf(error) })) }
  }
  // Also what a half-written file looks like: an editor has emptied it and not yet filled it again.
  if (document.contents === null) return whole('is empty')
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: mostAliases })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { problems: [{ at: place(firstAlias(document)), field: '', rule: `can't be expanded: ${reason}` }] }
  }

  const { contents } = document
  function offsetOf(path: ConfigPath, name: string | undefined): number {
    let node: unknown = contents
    for (const part of path) {
      const next: unknown = isCollection(node) ? node.get(part, true) : undefined
      if (!isNode(next)) break
      node = next
    }
    const key = isMap(node) ? node.items.find((item) => isScalar(item.key) && item.key.value === name)?.key : undefined
    const found = isNode(key) ? key : node
    return isNode(found) ? (found.range?.[0] ?? 0) : 0
  }

  return {
    value,
    problem: (path, rule, name) => ({
      at: place(offsetOf(path, name)),
      field: fieldName(name === undefined ? path : [...path, name]),
      rule,
    }),
  }
}

/** Undefined if it is nested so deeply that the parser runs out of stack, which it may say in an error of its own. */
function parsed(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    const document = parseDocument(text, { lineCounter, prettyErrors: false, stringKeys: true })
    return document.errors.some(({ message }) => /stack (size|overflow)/i.test(message)) ? undefined : document
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function faultOf({ code, message }: Pick<YAMLParseError, 'code' | 'message'>): string {
  return code === 'MULTIPLE_DOCS' ? 'must be one document: nothing may follow ---' : `is no YAML: ${message}`
}

function firstAlias(document: Document.Parsed): number {
  let offset = 0
  visit(document, {
    Alias(_key, { range }) {
      offset = range?.[0] ?? 0
      return visit.BREAK
    },
  })
  return offset
}

function fieldName(path: ConfigPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}
