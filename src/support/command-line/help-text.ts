/** Help texts stay within 80 columns: paragraphs, and entries with an explanation in a column beside a name. */
import { wrap } from './wrap.ts'

/** The lines of one entry: an option or a command. `width`: of the column with the names. */
export function helpEntry(name: string, width: number, about: string): string {
  return `  ${name.padEnd(width)} ${fill(about, width + 3)}`
}

/** The lines of a paragraph. @param column where it begins. @default 0 */
export const fill = (text: string, column = 0): string => wrap(text, { width: 80, column })
