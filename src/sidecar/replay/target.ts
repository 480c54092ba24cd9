/** What is known of the topic that takes replayed events: its name in the ledger, its schema, the source of converted events. */
import { isNamespaceTopic } from '../../metadata/fields/parse-endpoint.ts'
import type { OutputMetadata } from '../../metadata/typed/metadata.ts'
import { publishUrl } from '../../publisher/topic.ts'
import type { TargetTopic } from './either-publisher.ts'

/**
 * The name of a topic in a ledger: where events are posted, the same for all ways to write that address, without a query, which may
 * be secret. What an emulator takes in its place is a rehearsal, so `emulator`, its URL, belongs to the name.
 */
export function targetName(topicEndpoint: string, emulator: string | undefined): string {
  const { protocol, hostname, port, pathname } = publishUrl(topicEndpoint)
  // A dot at the end names the same host.
  const host = `${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`
  const path = pathname.replace(/(?<!\/)\/+$/, '')
  const address = `${protocol}//${host}${path}`
  return emulator === undefined ? address : `${address}@emulator:${URL.parse(emulator)?.origin ?? ''}`
}

export function targetTopic({
  topicEndpoint,
  topicSchema,
}: Pick<OutputMetadata, 'topicEndpoint' | 'topicSchema'>): TargetTopic {
  const { origin, pathname } = new URL(topicEndpoint)
  const isNamespace = topicSchema === 'auto' && isNamespaceTopic(topicEndpoint)
  return {
    topicSchema: isNamespace ? ('CloudEventSchemaV1_0' as const) : topicSchema,
    defaultSource: `${origin}${pathname}`,
  }
}
