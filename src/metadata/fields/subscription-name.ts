/** Which names an event subscription may have, and which it has by default. */
import { hash } from 'node:crypto'
import { BrokenRule } from './broken-rule.ts'
import { type Scope, scopeKey } from './scope.ts'

const pattern = /^[A-Za-z0-9]{3,64}$/
const pullPattern = /^[A-Za-z0-9]{3,50}$/

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
  if (componentName) return nameFor(componentName, pattern, 56)
  const { origin, pathname } = new URL(subscriberEndpoint)
  return nameOfPlace(scopeKey(scope), origin + pathname)
}

/**
 * The default of `eventSubscriptionName` for pull delivery: at most 42 letters and digits before the hash, and the namespace topic in place
 * of the endpoint.
 */
export function derivePullName(componentName: string | undefined, namespaceTopicId: string, scope?: Scope): string {
  if (componentName) return nameFor(componentName, pullPattern, 42)
  return nameOfPlace(scope ? scopeKey(scope) : '', namespaceTopicId.toLowerCase())
}

function nameFor(componentName: string, pattern: RegExp, maxLetters: number): string {
  if (pattern.test(componentName)) return componentName
  const letters = componentName.replace(/[^A-Za-z0-9]/g, '').slice(0, maxLetters)
  return letters + hash('sha256', componentName).slice(0, 8)
}

const nameOfPlace = (...place: readonly string[]) => `binding${hash('sha256', place.join('\n')).slice(0, 16)}`
