/** The secrets of a component: what must not be shown where a text from outside may repeat it. */
import { deriveDeliveryCredentials } from '../../core/delivery-credential.ts'
import { querySecrets } from '../../core/scrub.ts'
import { Secret } from '../../core/secret.ts'
import type { ParsedMetadata } from './metadata.ts'

/** Every secret of both sides, what deliveries carry, and the queries of their endpoints. */
export function secretsOf({ input, pull, output }: ParsedMetadata): readonly string[] {
  const delivery = input ? deriveDeliveryCredentials(input).map(({ value }) => value) : []
  const endpoints = [input?.subscriberEndpoint, output?.topicEndpoint].filter((url) => url !== undefined)
  return [...secretsIn([input, pull, output, delivery]), ...endpoints.flatMap(querySecrets)]
}

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
