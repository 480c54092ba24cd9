/** The programs of the emulator's page for other languages, which tests and witnesses run as they stand. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const page = join(import.meta.dirname, '../../packages/emulator/docs/languages.md')

/**
 * The block of a language in a section of the page.
 *
 * @param at which of them, from 0
 */
export function blockOf(section: string, language: string, at = 0): string {
  const text = readFileSync(page, 'utf8')
  const [, found = ''] = text.split(new RegExp(`^## ${section.replaceAll('.', '\\.')}\n`, 'm'))
  const [own = ''] = found.split(/^## /m)
  const block = [...own.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, of]) => of === language)[at]?.[2]
  if (block === undefined) throw new Error(`${page} has no block ${language} in ${section}`)
  return block
}
