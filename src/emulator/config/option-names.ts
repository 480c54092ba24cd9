// TypeError for an unknown option, in lists too.
import { checkNames } from '../../support/process/option-checks.ts'
import { namesAt } from './config-schema.ts'

/**
 * Throws a TypeError for an unknown option, also in an entry of a list: without types a typo would have no effect.
 *
 * @param codeOnly names of options that are not data, so that a configuration file can't have them
 */
export function checkOptionNames(options: unknown, codeOnly: readonly string[]): void {
  const known = namesAt([]).filter((name) => !name.endsWith('ConnectionString'))
  for (const [name, value] of checkNames('the options', options, [...known, ...codeOnly]))
    checkList(name, value, [name])
}

/** The same for one topic. */
export function checkTopicNames(options: unknown): void {
  checkNames('the topic', options, namesAt(['topics', 0]))
}

/** Checks a list of mappings, and the lists in them. Other values have no names to check. */
function checkList(what: string, value: unknown, path: readonly PropertyKey[]): void {
  const names = namesAt([...path, 0])
  if (names.length === 0 || value === undefined || typeof value === 'function') return
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list`)
  for (const [index, entry] of value.entries()) {
    const where = `${what}[${index}]`
    for (const [name, inner] of checkNames(where, entry, names)) {
      checkList(`${where}.${name}`, inner, [...path, 0, name])
    }
  }
}
