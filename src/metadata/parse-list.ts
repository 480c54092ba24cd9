import { z } from 'zod'
import { readJson } from '../support/json-text.ts'
import { BrokenRule } from './broken-rule.ts'

/**
 * A list: texts between commas, or a JSON array of strings (needed where an item holds a comma). Items are trimmed
 * between commas and kept as they are in JSON.
 *
 * @throws BrokenRule where it is empty, holds an empty item, or is JSON of another form
 */
export function parseList(text: string): readonly string[] {
  const items = text.trimStart().startsWith('[') ? jsonItems(text) : text.split(',').map((item) => item.trim())
  if (items.length === 0) throw new BrokenRule('must hold at least one item', 'leave the field out instead')
  if (items.includes('')) throw new BrokenRule('must not hold an empty item')
  return items
}

function jsonItems(text: string): readonly string[] {
  const items = z.array(z.string()).safeParse(readJson(text))
  if (!items.success) throw new BrokenRule('must be a JSON array of strings', 'write it like ["one", "two"] or one,two')
  return items.data
}
