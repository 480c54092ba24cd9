/** Whether a configuration, of a file or of code, can be used: each field, names given twice, and names that are not there. */
import type { YamlPath } from '../../../../src/support/files/located-yaml.ts'
import { isRecord } from '../../../../src/support/text/json-text.ts'
import { didYouMean } from '../../../../src/support/text/nearest-name.ts'
import { ArmError } from '../arm/call/errors.ts'
import { parseArmScope } from '../arm/call/path.ts'
import { declaredQueueProperties } from '../arm/resources/namespace-contents.ts'
import { declaredProperties, settingNames } from '../arm/subscriptions/read-settings.ts'
import { type JsonObject, ownField } from '../model/events/event-text.ts'
import { inputSchemas, trackedTypes } from '../model/resources/resource.ts'
import { type FieldFault, maxFaults, readFields } from '../model/schemas.ts'
import { type Config, type ConfigOptions, configSchema } from './config-schema.ts'
import { emulatorDefaults } from './resource-fields.ts'

/**
 * Checks a configuration: the same for a file, for options in code, and for those that come later.
 *
 * @param now milliseconds since 1970, for expiration times
 * @param moreNames names that the configuration may have beside the fields, for a did-you-mean. @default none
 * @returns the configuration, if each field is right by itself, and the first 30 faults
 */
export function checkConfig(
  config: unknown,
  now: number,
  moreNames: readonly string[] = [],
): { readonly data: Config | undefined; readonly faults: readonly FieldFault[] } {
  const { data, faults: fields } = readFields(configSchema, config, moreNames)
  const faults = fields.map(formerFieldNamed)
  // They are found one by one, so those over the limit cost nothing.
  for (const fault of referenceFaults(config, now)) {
    if (faults.length >= maxFaults) break
    faults.push(fault)
  }
  return { data, faults: faults.slice(0, maxFaults) }
}

/** Says what to write in place of a field that there was once. */
function formerFieldNamed(fault: FieldFault): FieldFault {
  if (fault.path[0] !== 'storage' || fault.name !== 'port') return fault
  return { ...fault, rule: 'is no field any more; all accounts have one blob endpoint, whose port is blobPort' }
}

/** What is wrong with one event subscription beside what stands already, with paths within it. */
export function eventSubscriptionFaults(
  one: unknown,
  standing: Pick<ConfigOptions, 'subscriptions' | 'topics' | 'domains'>,
  now: number,
): readonly FieldFault[] {
  const { faults } = checkConfig({ ...standing, eventSubscriptions: [one] }, now)
  return faults.flatMap((fault) => {
    return fault.path[0] === 'eventSubscriptions' ? [{ ...fault, path: fault.path.slice(2) }] : []
  })
}

/**
 * Finds names that are defined twice, or used and not defined. Takes an unchecked configuration, so that these faults are
 * reported together with those of single fields.
 */
function* referenceFaults(config: unknown, now: number): Generator<FieldFault> {
  const topics = entries(config, 'topics')
  const clients = entries(config, 'clients')
  const subscriptions = entries(config, 'subscriptions')
  const eventSubscriptions = entries(config, 'eventSubscriptions')

  const ports = ['port', 'httpPort', 'blobPort'].map((name) => ({ name, port: ownField(config, name) }))
  for (const [at, { name, port }] of ports.entries()) {
    const same = port === 0 || port === undefined ? undefined : ports.slice(0, at).find((one) => one.port === port)
    if (same) yield { path: [name], rule: `must be another port than ${same.name}` }
  }
  for (const kind of trackedTypes) {
    yield* twice(kind, entries(config, kind), ({ name }) => text(name), 'name')
  }
  yield* twice('systemTopics', entries(config, 'systemTopics'), ({ source }) => text(source), 'source')
  const storage = entries(config, 'storage')
  yield* twice('storage', storage, ({ account }) => text(account), 'account')
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
  for (const [index, namespace] of entries(config, 'namespaces')) yield* queueFaults(['namespaces', index], namespace)
}

/** Names that a namespace has twice, and the faults that ARM would report for its Queue event subscriptions. */
function* queueFaults(at: YamlPath, namespace: JsonObject): Generator<FieldFault> {
  const topics = entries(namespace, 'topics')
  yield* twice([...at, 'topics'], topics, ({ name }) => text(name), 'name')
  for (const [index, topic] of topics) {
    const path = [...at, 'topics', index, 'eventSubscriptions']
    const subscriptions = entries(topic, 'eventSubscriptions')
    yield* twice(path, subscriptions, ({ name }) => text(name), 'name')
    const retentionDays = typeof topic.eventRetentionInDays === 'number' ? topic.eventRetentionInDays : 1
    for (const [number, { properties }] of subscriptions) {
      if (!isRecord(properties)) continue
      try {
        const parsed = declaredQueueProperties(properties, retentionDays)
        for (const fault of ignoredFields(properties, parsed)) {
          yield { ...fault, path: [...path, number, 'properties', ...fault.path] }
        }
      } catch (error) {
        if (!(error instanceof ArmError)) throw error
        yield { path: [...path, number, 'properties', ...(error.at ?? [])], rule: `is refused: ${error.message}` }
      }
    }
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
  if (/\/namespaces\/[^/]+\/topics\//i.test(scope))
    return 'is a namespace topic, whose event subscriptions are queues: they stand in namespaces'
  const { subscriptionId } = parsed
  return ids.some((id) => same(id, subscriptionId)) ? undefined : `names a subscription that is not there: ${ids[0]} is`
}

/** The faults that ARM would report for an event subscription. */
function* settingsFaults(one: JsonObject, publisher: JsonObject | undefined, now: number): Generator<FieldFault> {
  const { name, endpoint, properties = {} } = one
  if (endpoint === undefined && ownField(properties, 'destination') === undefined) {
    return yield { path: [], rule: 'needs an endpoint' }
  }
  const identified = ownField(ownField(properties, 'deliveryWithResourceIdentity'), 'destination')
  const type = ownField(ownField(properties, 'destination') ?? identified, 'endpointType')
  if (endpoint !== undefined && typeof type === 'string' && !same(type, 'WebHook')) {
    return yield {
      path: ['endpoint'],
      rule: `is that of a webhook: leave it out beside a destination of the type ${type}`,
    }
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
function* ignoredFields(given: unknown, parsed: unknown, path: YamlPath = []): Generator<FieldFault> {
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
  kind: string | YamlPath,
  list: Entries,
  keyOf: (entry: JsonObject) => string | undefined,
  field: string,
  rule = 'is given twice',
): Generator<FieldFault> {
  const seen = new Set<string>()
  for (const [index, entry] of list) {
    const key = keyOf(entry)?.toLowerCase()
    if (key === undefined) continue
    if (seen.has(key)) yield { path: [kind, index, field].flat(), rule }
    seen.add(key)
  }
}

function* unknownName(path: YamlPath, value: unknown, names: readonly string[], kind: string): Generator<FieldFault> {
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
