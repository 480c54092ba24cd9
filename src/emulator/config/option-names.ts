import { isRecord } from '../../support/is-record.ts'
import { checkNames } from '../../support/option-checks.ts'
import { namesAt } from './config-schema.ts'

/**
 * Throws a TypeError for an unknown option, also in an entry of a list: without types a typo would have no effect.
 *
 * @param codeOnly names of options that are not data, so that a configuration file can't have them
 */
export function checkOptionNames(options: unknown, codeOnly: readonly string[]): void {
  const known = namesAt([]).filter((name) => name !== 'deadLetterConnectionString')
  checkNames('the options', options, [...known, ...codeOnly])
  checkNamespaces(isRecord(options) ? options.namespaces : undefined)
  for (const list of ['subscriptions', 'topics', 'eventSubscriptions', 'ingress', 'clients']) {
    const given = isRecord(options) ? options[list] : undefined
    if (typeof given === 'function') continue
    for (const [index, entry] of checkList(list, given, namesAt([list, 0])).entries()) {
      const roles = list === 'clients' && isRecord(entry) ? entry.roles : undefined
      checkList(`clients[${index}].roles`, roles, namesAt(['clients', 0, 'roles', 0]))
    }
  }
}

/** Checks the topics in each namespace, and the event subscriptions in each topic. */
function checkNamespaces(value: unknown): void {
  for (const [index, namespace] of checkList('namespaces', value, namesAt(['namespaces', 0])).entries()) {
    const where = `namespaces[${index}].topics`
    const topics = isRecord(namespace) ? namespace.topics : undefined
    for (const [place, topic] of checkList(where, topics, namesAt(['namespaces', 0, 'topics', 0])).entries()) {
      const subscriptions = isRecord(topic) ? topic.eventSubscriptions : undefined
      const names = namesAt(['namespaces', 0, 'topics', 0, 'eventSubscriptions', 0])
      checkList(`${where}[${place}].eventSubscriptions`, subscriptions, names)
    }
  }
}

/** The same for one topic. */
export function checkTopicNames(options: unknown): void {
  checkNames('the topic', options, namesAt(['topics', 0]))
}

function checkList(what: string, value: unknown, names: readonly string[]): readonly unknown[] {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list`)
  for (const [index, entry] of value.entries()) checkNames(`${what}[${index}]`, entry, names)
  return value
}
