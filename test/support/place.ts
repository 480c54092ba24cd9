import type { FilePlace } from '../../src/core/component.ts'

/** The place that a text names: `f.yaml:5:9`. */
export function place(text: string): FilePlace {
  const [file = '', line, column] = text.split(':')
  return { file, line: Number(line), column: Number(column) }
}
