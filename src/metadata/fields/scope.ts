/** Which resource ids are accepted as `scope` and `namespaceTopic`, and the names of event subscriptions there. */

import { hash } from 'node:crypto'
import { BrokenRule } from './faults.ts'

/** A parsed scope. `id` is the resource id with a leading and no trailing slash, in the user's letter case. */
export type Scope = { readonly id: string; readonly subscriptionId: string } & (
  | { readonly kind: 'subscription' }
  | { readonly kind: 'resourceGroup'; readonly resourceGroup: string }
  | {
      readonly kind: 'resource' | 'topic'
      readonly resourceGroup: string
      readonly provider: string
      /** Type and name pairs, outermost first: a domain's topic has two. */
      readonly path: readonly { readonly type: string; readonly name: string }[]
    }
)

export type NamespaceTopicId = Readonly<ReturnType<typeof parseNamespaceTopic>>

/** No character that could end or change the path of a URL: the scope becomes part of a path, unencoded. */
const segmentPattern = /^[\p{L}\p{N}\-._~!$&'()*+,;=:@]{1,260}$/u

const forms =
  'write /subscriptions/{id}/, /subscriptions/{id}/resourceGroups/{group}, or that group followed by /providers/{namespace}/{type}/{name}'

/**
 * Parses a scope of any of the specification's four forms, or of a child resource. Keywords match without regard to
 * case; a trailing slash is allowed.
 *
 * @throws BrokenRule
 */
export function parseScope(text: string): Scope {
  if (!text.startsWith('/')) throw new BrokenRule('must start with a slash', forms)
  const segments = text.replace(/\/$/, '').slice(1).split('/')
  for (const segment of segments) checkSegment(segment)

  const [subscriptions = '', subscriptionId, groups, resourceGroup, providers, provider, ...rest] = segments
  const id = `/${segments.join('/')}`
  if (!same(subscriptions, 'subscriptions') || subscriptionId === undefined) {
    throw new BrokenRule('must start with /subscriptions/{id}', forms)
  }
  if (groups === undefined) return { kind: 'subscription', id, subscriptionId }
  if (!same(groups, 'resourceGroups') || resourceGroup === undefined) {
    throw new BrokenRule('must name a resource group after the subscription', forms)
  }
  if (providers === undefined) return { kind: 'resourceGroup', id, subscriptionId, resourceGroup }
  if (!same(providers, 'providers') || provider === undefined) {
    throw new BrokenRule('must name a resource provider after the resource group', forms)
  }
  const path = pairs(rest)
  const resource = { kind: 'resource', id, subscriptionId, resourceGroup, provider, path } as const
  return resourceType(resource) === 'microsoft.eventgrid/topics' ? { ...resource, kind: 'topic' } : resource
}

const namespaceTopicType = 'microsoft.eventgrid/namespaces/topics'

/**
 * Parses the resource id of a namespace topic: `.../providers/Microsoft.EventGrid/namespaces/{namespace}/topics/{topic}`.
 *
 * @throws BrokenRule
 */
export function parseNamespaceTopic(text: string) {
  const scope = parseScope(text)
  if (scope.kind !== 'resource' || resourceType(scope) !== namespaceTopicType) {
    const fix = 'it ends with /providers/Microsoft.EventGrid/namespaces/{namespace}/topics/{topic}'
    throw new BrokenRule('must be the resource id of a namespace topic', fix)
  }
  const { id, subscriptionId, resourceGroup } = scope
  const [namespace = '', topic = ''] = scope.path.map(({ name }) => name)
  return { id, subscriptionId, resourceGroup, namespaceId: id.split('/').slice(0, -2).join('/'), namespace, topic }
}

/** The type of a resource in lower case, such as `microsoft.eventgrid/domains/topics`; `undefined` for a scope above resources. */
export function resourceType(scope: Scope): string | undefined {
  if (!('provider' in scope)) return undefined
  return [scope.provider, ...scope.path.map(({ type }) => type)].join('/').toLowerCase()
}

/** A scope's id in lower case, for comparing and hashing: Azure's resource ids are case-insensitive. */
export function scopeKey(scope: Scope): string {
  return scope.id.toLowerCase()
}

function checkSegment(segment: string): void {
  if (segment === '') throw new BrokenRule('must not hold an empty part between slashes', forms)
  if (segment === '.' || segment === '..') throw new BrokenRule('must not hold "." or ".." as a part', forms)
  if (segment.startsWith('{') || segment.startsWith('<')) {
    throw new BrokenRule('still holds a placeholder', 'replace the part in brackets with the real value')
  }
  if (!segmentPattern.test(segment)) {
    throw new BrokenRule('holds a character that no resource id has, or a part of over 260 characters', forms)
  }
}

function pairs(segments: readonly string[]): readonly { type: string; name: string }[] {
  if (segments.length === 0 || segments.length % 2 === 1) {
    throw new BrokenRule('must end with the type and the name of a resource', forms)
  }
  const found = []
  for (let at = 0; at < segments.length; at += 2) {
    const [type = '', name = ''] = segments.slice(at, at + 2)
    if (same(type, 'providers')) {
      const fix = 'end it before the second /providers: name the resource that raises the events'
      throw new BrokenRule('must not name a second resource provider', fix)
    }
    found.push({ type, name })
  }
  return found
}

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** A name that Azure allows. Whether the binding would create such a name is asked with the other fields. @throws BrokenRule */
export function parseSubscriptionName(text: string): string {
  if (/^[A-Za-z0-9-]{3,64}$/.test(text)) return text
  throw new BrokenRule('must be 3 to 64 letters and digits')
}

/** A name of a Queue event subscription. @throws BrokenRule */
export function parsePullName(text: string): string {
  if (/^[A-Za-z0-9-]{3,50}$/.test(text)) return text
  throw new BrokenRule('must be 3 to 50 letters and digits with deliveryMode pull')
}

/**
 * The default of `eventSubscriptionName`, the same at every start of every replica. It is the component's name, if valid; else the
 * name's first 56 letters and digits and a hash of the name; without a component name, `binding` and a hash of scope and endpoint. The
 * hash leaves out the endpoint's query, which may be secret and may change.
 */
export function deriveSubscriptionName(
  componentName: string | undefined,
  { scope, subscriberEndpoint }: { readonly scope: Scope; readonly subscriberEndpoint: string },
): string {
  if (componentName) return nameFor(componentName, 64)
  const { origin, pathname } = new URL(subscriberEndpoint)
  return nameOfPlace(scopeKey(scope), origin + pathname)
}

/**
 * The default of `eventSubscriptionName` for pull delivery: at most 42 letters and digits before the hash, and the namespace topic in place
 * of the endpoint.
 */
export function derivePullName(componentName: string | undefined, namespaceTopicId: string, scope?: Scope): string {
  if (componentName) return nameFor(componentName, 50)
  return nameOfPlace(scope ? scopeKey(scope) : '', namespaceTopicId.toLowerCase())
}

function nameFor(componentName: string, maxLength: number): string {
  const letters = componentName.replace(/[^A-Za-z0-9]/g, '')
  if (letters === componentName && letters.length >= 3 && letters.length <= maxLength) return componentName
  return letters.slice(0, maxLength - 8) + hash('sha256', componentName).slice(0, 8)
}

const nameOfPlace = (...place: readonly string[]) => `binding${hash('sha256', place.join('\n')).slice(0, 16)}`
