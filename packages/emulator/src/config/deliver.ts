// What the option `deliver` stands for: a topic, an event subscription and an ingress rule for each local URL.
import { type Ingress, type IngressRule, ingressOf, isIngressUrl } from '../delivery/send/ingress.ts'
import type { ConfigOptions, EventSubscriptionOptions, TopicOptions } from './config-schema.ts'

/** The options that `deliver` adds to. */
export interface Deliverable extends Pick<ConfigOptions, 'deliver' | 'topics' | 'eventSubscriptions'> {
  readonly ingress?: readonly IngressRule[] | Ingress
}

/**
 * Options with what `deliver` stands for in their lists. An event subscription has its topic's name, a second one of a topic the
 * name with `-2`, and so on. Its public URL, at a host of `deliver.example`, is led to the local one. Throws a TypeError for a
 * target that is not a URL.
 */
export function deliverTo<Options extends Deliverable>(options: Options): Options & Deliverable {
  const { deliver = {}, topics, eventSubscriptions = [], ingress = [] } = options
  if (Object.keys(deliver).length === 0) return options
  const made = Object.entries(deliver).flatMap(([topic, targets]) =>
    (typeof targets === 'string' ? [targets] : targets).map((target, index) => delivered(topic, target, index)),
  )
  const given = ingressOf(ingress)
  const rules = ingressOf(made.flatMap(({ rules }) => rules))
  const isNew = (name: string) => !topics?.some((topic) => topic.name.toLowerCase() === name.toLowerCase())
  const added: TopicOptions[] = Object.keys(deliver)
    .filter(isNew)
    .map((name) => ({ name }))
  return {
    ...options,
    topics: [...(topics ?? []), ...added],
    eventSubscriptions: [...eventSubscriptions, ...made.map(({ subscription }) => subscription)],
    ingress: (url) => rules(url) ?? given(url),
  }
}

function delivered(
  topic: string,
  target: string,
  index: number,
): { readonly subscription: EventSubscriptionOptions; readonly rules: readonly IngressRule[] } {
  if (!isIngressUrl(target)) {
    throw new TypeError(
      `deliver takes a URL for each topic, like http://127.0.0.1:3000/hook, not ${JSON.stringify(target)}`,
    )
  }
  const name = index === 0 ? topic : `${topic}-${index + 1}`
  const { protocol, pathname, search } = new URL(target)
  const host = `${name.toLowerCase()}.deliver.example`
  // Event Grid delivers by https only. An https URL is its own public one.
  if (protocol === 'https:') return { subscription: { name, topic, endpoint: target }, rules: [] }
  const subscription: EventSubscriptionOptions = { name, topic, endpoint: `https://${host}${pathname}${search}` }
  return { subscription, rules: [{ from: `https://${host}/`, to: new URL(target).origin }] }
}
