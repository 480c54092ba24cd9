import { nearestName } from '../../support/nearest-name.ts'
import type { IngressRule } from '../delivery/ingress.ts'
import type { RoleGrant } from '../model/client.ts'
import { isJsonObject } from '../model/json-object.ts'
import type {
  AzureSubscriptionOptions,
  ClientOptions,
  EventGridEmulatorOptions,
  EventSubscriptionOptions,
  TopicOptions,
} from './options.ts'

/** Every name of a type, and no other: the compiler sees to it. */
type Names<T> = Readonly<Record<keyof T, true>>

const emulatorNames: Names<EventGridEmulatorOptions> = {
  port: true,
  httpPort: true,
  host: true,
  tenantId: true,
  subscriptionId: true,
  resourceGroup: true,
  clients: true,
  subscriptions: true,
  topics: true,
  eventSubscriptions: true,
  ingress: true,
  trustedCertificates: true,
  clock: true,
  random: true,
  operationDelayMs: true,
  conflicts: true,
  throttling: true,
  deliveryTokenVersion: true,
  tokenLifetimeSeconds: true,
  state: true,
  retrySchedule: true,
  deadLetterDelay: true,
  deadLetterStore: true,
  probation: true,
  concurrency: true,
  maxPending: true,
  maxPendingBytes: true,
}
const clientNames: Names<ClientOptions> = {
  tenantId: true,
  clientId: true,
  clientSecret: true,
  objectId: true,
  roles: true,
}
const roleNames: Names<RoleGrant> = { role: true, scope: true }
const subscriptionNames: Names<AzureSubscriptionOptions> = {
  id: true,
  tenantId: true,
  registered: true,
  resourceGroups: true,
}
const topicNames: Names<TopicOptions> = {
  name: true,
  subscriptionId: true,
  resourceGroup: true,
  location: true,
  inputSchema: true,
  inputSchemaMapping: true,
  keys: true,
  disableLocalAuth: true,
}
const eventSubscriptionNames: Names<EventSubscriptionOptions> = {
  name: true,
  topic: true,
  scope: true,
  endpoint: true,
  properties: true,
}
const ingressNames: Names<IngressRule> = { from: true, to: true }

/**
 * Throws a TypeError for an option that there is not, be it in an entry of a list: without types a slip
 * of the pen would be passed over.
 */
export function checkOptionNames(options: unknown): void {
  const given = checkNames('the options', options, emulatorNames)
  checkList('subscriptions', given.subscriptions, subscriptionNames)
  checkList('topics', given.topics, topicNames)
  checkList('eventSubscriptions', given.eventSubscriptions, eventSubscriptionNames)
  if (typeof given.ingress !== 'function') checkList('ingress', given.ingress, ingressNames)
  for (const [index, client] of checkList('clients', given.clients, clientNames).entries()) {
    checkList(`clients[${index}].roles`, client.roles, roleNames)
  }
}

/** The same for one topic. */
export function checkTopicNames(options: unknown): void {
  checkNames('the topic', options, topicNames)
}

/** Throws a TypeError unless a value is an object with no other names than these. */
export function checkNames(what: string, value: unknown, names: Readonly<Record<string, unknown>>) {
  const known = Object.keys(names)
  if (!isJsonObject(value)) throw new TypeError(`${what} must be an object with ${known.join(', ')}`)
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(names, name)) continue
    const meant = nearestName(name, known)
    const there = meant === undefined ? `there are ${known.join(', ')}` : `did you mean ${meant}?`
    throw new TypeError(`${what}: there is no ${JSON.stringify(name.slice(0, 100))}; ${there}`)
  }
  return value
}

function checkList(what: string, value: unknown, names: Readonly<Record<string, true>>) {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw new TypeError(`${what} must be a list`)
  return value.map((entry: unknown, index) => checkNames(`${what}[${index}]`, entry, names))
}
