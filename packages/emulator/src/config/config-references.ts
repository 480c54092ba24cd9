// Configuration names given twice or not defined: unknown topic, scope, subscription, same port.

import type { YamlPath } from '../../../../src/support/files/located-yaml.ts'
import { isRecord } from '../../../../src/support/text/is-record.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { ArmError } from '../arm/call/errors.ts'
import { parseArmScope } from '../arm/call/path.ts'
import { declaredProperties, settingNames } from '../arm/subscriptions/read-settings.ts'
import { type JsonObject, ownField } from '../model/events/json-object.ts'
import { inputSchemas } from '../model/resources/input-schema.ts'
import { trackedTypes } from '../model/resources/resource.ts'
import { emulatorDefaults } from './options.ts'

/** A fault between fields that are valid on their own. */
export interface ReferenceFault {
  readonly path: YamlPath
  readonly rule: string
  /** A key of the mapping at the path, where it is the key that is wrong. */
  readonly name?: string
}

/**
 * Finds names that are defined twice, or used and not defined. Takes an unchecked configuration, so that it can report these
 * faults together with those of single fields.
 */
export function* referenceFaults(config: unknown, now: number): Generator<ReferenceFault> {
  const topics = entries(config, 'topics')
  const clients = entries(config, 'clients')
  const subscriptions = entries(config, 'subscriptions')
  const eventSubscriptions = entries(config, 'eventSubscriptions')
  const port = ownField(config, 'port')

  if (port !== 0 && port !== undefined && port === ownField(config, 'httpPort')) {
    yield { path: ['httpPort'], rule: 'must be another port than port' }
  }
  for (const kind of trackedTypes) {
    yield* twice(kind, entries(config, kind), ({ name }) => text(name), 'name')
  }
  yield* twice('systemTopics', entries(config, 'systemTopics'), ({ source }) => text(source), 'source')
  const storage = entries(config, 'storage')
  yield* twice('storage', storage, ({ account }) => text(account), 'account')
  yield* twicePort(storage, [port, ownField(config, 'httpPort')])
  yield* twice('subscriptions', subscriptions, ({ id }) => text(id) ?? emulatorDefaults.subscriptionId, 'id')
  const clientKey = ({ tenantId, clientId }: JsonObject) =>
    `${text(tenantId) ?? ''} ${text(clientId) ?? emulatorDefaults.clientId}`
  const oneEntry = 'is given twice; give all secrets of one client in one entry: clientSecret: [new, old]'
  yield* twice('clients', clients, clientKey, 'clientId', oneEntry)
  const subscriptionKey = ({ topic, scope, name }: JsonObject) => `${text(topic) ?? text(scope) ?? ''} ${text(name)}`
  yield* twice('eventSubscriptions', eventSubscriptions, subscriptionKey, 'name')

  const only = text(ownField(config, 'subscriptionId')) ?? emulatorDefaults.subscriptionId
  const ids = subscriptions.length > 0 ? subscriptions.map(([, { id }]) => text(id) ?? only) : [only]
  for (const kind of trackedTypes) {
    for (const [index, { subscriptionId }] of entries(config, kind)) {
      yield* unknownName([kind, index, 'subscriptionId'], subscriptionId, ids, 'subscriptions')
    }
  }

  for (const [index, { subscriptionId }] of storage) {
    yield* unknownName(['storage', index, 'subscriptionId'], subscriptionId, ids, 'subscriptions')
  }

  const given = topics.flatMap(([, { name }]) => text(name) ?? [])
  const delivered = Object.keys(recordOf(ownField(config, 'deliver')))
  const isDefault = ownField(config, 'topics') === undefined && delivered.length === 0
  const names = isDefault ? [emulatorDefaults.topic] : [...given, ...delivered]
  for (const [index, one] of eventSubscriptions) {
    const path = ['eventSubscriptions', index]
    yield* unknownName([...path, 'topic'], one.topic, names, 'topics')
    if (one.topic !== undefined && one.scope !== undefined) {
      yield { path: [...path, 'scope'], rule: 'must not be given together with topic' }
    }
    if (names.length === 0 && one.topic === undefined && one.scope === undefined) {
      yield { path, rule: 'needs a scope, as there is no topic' }
    }
    const stray = scopeFault(one.scope, ids)
    if (stray) yield { path: [...path, 'scope'], rule: stray }
    const publisher = publisherOf(one, topics, entries(config, 'domains'))
    for (const fault of settingsFaults(one, publisher, now)) yield { ...fault, path: [...path, ...fault.path] }
  }
}

type Entries = readonly (readonly [number, JsonObject])[]

/** The declared topic or domain whose events an event subscription gets; undefined for another source. */
function publisherOf({ topic, scope }: JsonObject, topics: Entries, domains: Entries): JsonObject | undefined {
  const named = (list: Entries, wanted: unknown) => list.find(([, { name }]) => same(name, wanted))?.[1]
  if (typeof scope !== 'string') return (topic === undefined ? topics[0]?.[1] : named(topics, topic)) ?? {}
  const [, type = '', name] = /\/providers\/Microsoft\.EventGrid\/(topics|domains)\/([^/]+)/i.exec(scope) ?? []
  return named(type.toLowerCase() === 'topics' ? topics : domains, name)
}

function scopeFault(scope: unknown, ids: readonly string[]): string | undefined {
  if (typeof scope !== 'string' || !scope.startsWith('/')) return undefined
  const parsed = parseArmScope(scope.replace(/\/$/, ''))
  if (!parsed) return 'must be the id of a subscription, a resource group or a resource'
  const { subscriptionId } = parsed
  return ids.some((id) => same(id, subscriptionId)) ? undefined : `names a subscription that is not there: ${ids[0]} is`
}

/** The faults that ARM would report for an event subscription. */
function* settingsFaults(one: JsonObject, publisher: JsonObject | undefined, now: number): Generator<ReferenceFault> {
  const { name, endpoint, properties = {} } = one
  if (endpoint === undefined && ownField(properties, 'destination') === undefined) {
    return yield { path: [], rule: 'needs an endpoint' }
  }
  // Faults of single fields are reported already.
  if (typeof name !== 'string' || !isRecord(properties) || (endpoint !== undefined && !isHttpsUrl(endpoint))) return
  const given = publisher && (publisher.inputSchema ?? 'CloudEventSchemaV1_0')
  const schema = inputSchemas.find((known) => known === given)
  try {
    const options = { name, properties, ...(endpoint !== undefined && { endpoint }) }
    const parsed = declaredProperties(options, schema, now)
    for (const fault of ignoredFields(properties, parsed)) yield { ...fault, path: ['properties', ...fault.path] }
  } catch (error) {
    if (!(error instanceof ArmError)) throw error
    yield { path: error.at ? ['properties', ...error.at] : [], rule: `is refused by Event Grid: ${error.message}` }
  }
}

/**
 * Finds the given fields that parsing dropped: Resource Manager does not know them and silently ignores them. In a
 * configuration file each is a typo.
 */
function* ignoredFields(given: unknown, parsed: unknown, path: YamlPath = []): Generator<ReferenceFault> {
  if (Array.isArray(given) && Array.isArray(parsed)) {
    for (const [index, item] of given.entries()) yield* ignoredFields(item, parsed[index], [...path, index])
  }
  if (!isRecord(given) || !isRecord(parsed)) return
  for (const [name, value] of Object.entries(given)) {
    if (Object.hasOwn(parsed, name)) yield* ignoredFields(value, parsed[name], [...path, name])
    else if (value !== null) {
      const question = didYouMean(name, settingNames())
      yield { path, name, rule: `is not a field of Event Grid${question === undefined ? '' : `; ${question}`}` }
    }
  }
}

function* twice(
  kind: string,
  list: Entries,
  keyOf: (entry: JsonObject) => string | undefined,
  field: string,
  rule = 'is given twice',
): Generator<ReferenceFault> {
  const seen = new Set<string>()
  for (const [index, entry] of list) {
    const key = keyOf(entry)?.toLowerCase()
    if (key === undefined) continue
    if (seen.has(key)) yield { path: [kind, index, field], rule }
    seen.add(key)
  }
}

/** Ports of blob endpoints that another port of the emulator has already. */
function* twicePort(storage: Entries, others: readonly unknown[]): Generator<ReferenceFault> {
  const seen = new Set(others)
  for (const [index, { port }] of storage) {
    if (typeof port !== 'number' || port === 0) continue
    if (seen.has(port)) yield { path: ['storage', index, 'port'], rule: 'must be another port than the others' }
    seen.add(port)
  }
}

function* unknownName(
  path: YamlPath,
  value: unknown,
  names: readonly string[],
  kind: string,
): Generator<ReferenceFault> {
  if (typeof value !== 'string' || names.some((name) => same(name, value))) return
  const question = didYouMean(value, names)
  yield { path, rule: `must be one of ${kind}${question === undefined ? '' : `; ${question}`}` }
}

function entries(config: unknown, name: string): (readonly [number, JsonObject])[] {
  const list = ownField(config, name)
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown, index) => (isRecord(entry) ? [[index, entry] as const] : []))
}

const recordOf = (value: unknown) => (isRecord(value) ? value : {})
const isHttpsUrl = (value: unknown): value is string =>
  typeof value === 'string' && /^https:/i.test(value) && URL.canParse(value)
const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
const same = (one: unknown, other: unknown) =>
  typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase()
