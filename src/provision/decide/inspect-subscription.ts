// Whether the event subscription still delivers here: missing, changed state, other URL or destination.
import { isWebHook } from './canonical-subscription.ts'
import { type ExistingSubscription, isChanging } from './decide-upsert.ts'

/** What a poll of the event subscription finds. `problem` is a sentence without a secret. */
export type Finding = { readonly kind: 'intact' | 'missing' } | { readonly kind: 'changed'; readonly problem: string }

/** Judges what a plain read shows (pure): does the event subscription still deliver here? Secrets and query are not compared. */
export function inspectSubscription(existing: ExistingSubscription | undefined, subscriberEndpoint: string): Finding {
  if (!existing) return { kind: 'missing' }
  const { destination, provisioningState: state = 'Succeeded' } = existing.subscription
  if (isChanging(existing.subscription)) return { kind: 'intact' }
  if (state !== 'Succeeded') return { kind: 'changed', problem: `its provisioning state is ${state}` }
  if (!isWebHook(destination)) {
    return { kind: 'changed', problem: `it delivers to ${destination?.endpointType ?? 'another destination'}` }
  }
  const url = destination.endpointBaseUrl ?? destination.endpointUrl
  if (url === undefined || withoutQuery(url) === withoutQuery(subscriberEndpoint)) return { kind: 'intact' }
  return { kind: 'changed', problem: `it delivers to ${withoutQuery(url)}, not to ${withoutQuery(subscriberEndpoint)}` }
}

function withoutQuery(url: string): string {
  if (!URL.canParse(url)) return url
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
