// Reads Bicep: its syntax tree, and what `format` gives where a template calls the function.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Language, type Node, Parser } from 'web-tree-sitter'

/** The root of the syntax tree of a Bicep text. */
export async function parseBicep(text: string): Promise<Node> {
  await Parser.init()
  const grammarPackage = createRequire(import.meta.url).resolve('tree-sitter-bicep/package.json')
  const parser = new Parser()
  parser.setLanguage(await Language.load(join(dirname(grammarPackage), 'tree-sitter-bicep.wasm')))
  const tree = parser.parse(text)
  if (!tree) throw new Error('the parser gave no tree')
  return tree.rootNode
}

/**
 * String.Format of .NET, which `format` of Bicep and of Resource Manager calls: `{{` and `}}` are braces, `{0}` is an argument (with an
 * alignment, `{0,-8}`), and any other brace is an error. A format after a colon is for numbers and dates: texts ignore it.
 * Source: https://learn.microsoft.com/dotnet/standard/base-types/composite-formatting
 */
export function formatDotNet(shape: string, given: readonly string[]): string {
  return shape.replace(/\{\{|\}\}|\{(\d+) *(?:, *(-?\d+) *)?(?::[^{}]*)?\}|[{}]/g, (found, index, alignment) => {
    if (found === '{{' || found === '}}') return found.slice(1)
    const value = index === undefined ? undefined : given[Number(index)]
    if (value === undefined) throw new Error(`String.Format: ${found} is neither an argument nor a doubled brace`)
    const width = Number(alignment ?? 0)
    return width < 0 ? value.padEnd(-width) : value.padStart(width)
  })
}

/**
 * What each call of `format` in a Bicep file gives. `known` has the values that only a deployment knows, by their expression
 * (`topic.id`); an expression without a value is its own text.
 */
export function evaluateFormats(root: Node, known: Readonly<Record<string, string>> = {}): readonly string[] {
  const declared = new Map(
    root.descendantsOfType(['variable_declaration', 'parameter_declaration']).map((one) => [
      one.namedChildren.find(({ type }) => type === 'identifier')?.text,
      // The last child is the value; that of a parameter without a default is the parameter's type.
      one.namedChildren.at(-1),
    ]),
  )
  const textOf = (node: Node): string => {
    if (node.text in known) return known[node.text] ?? ''
    if (node.type === 'string') return stringOf(node)
    if (node.type === 'call_expression') return callOf(node)
    const value = node.type === 'identifier' ? declared.get(node.text) : undefined
    return value && value.type !== 'type' ? textOf(value) : node.text
  }
  const stringOf = (node: Node): string => {
    // Three quotes: nothing is escaped, and the first line break does not count.
    if (node.text.startsWith("'''")) return node.text.slice(3, -3).replace(/^\r?\n/, '')
    const parts = node.namedChildren.map((part) => {
      const [inside] = part.namedChildren
      return part.type === 'interpolation' && inside ? textOf(inside) : part.text.replace(/\\(['\\$])/g, '$1')
    })
    return parts.join('')
  }
  const callOf = (node: Node): string => {
    if (node.childForFieldName('function')?.text !== 'format') return node.text
    const [shape = '', ...given] = (node.childForFieldName('arguments')?.namedChildren ?? []).map(textOf)
    return formatDotNet(shape, given)
  }
  const calls = root.descendantsOfType('call_expression')
  return calls.filter((call) => call.childForFieldName('function')?.text === 'format').map(textOf)
}
