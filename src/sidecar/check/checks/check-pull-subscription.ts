/** Check `azure/subscription` for pull: is the event subscription as the metadata wants it? */
import { decideUpsert } from '../../../provision/decide/decide-upsert.ts'
import type { SubscriptionProperties } from '../../../provision/decide/subscription-properties.ts'
import { readFinding } from '../report/arm-finding.ts'
import { type Finding, failed, ok } from '../report/finding.ts'
import type { PullPlace } from '../world/pull-world.ts'
import {
  changing,
  different,
  differing,
  mend,
  missing,
  warnOfNoDeadLetter,
  withStaying,
} from './azure/check-subscription.ts'

export async function checkPullPlace(place: PullPlace): Promise<Finding> {
  const name = `${place.eventSubscriptionName} of ${place.scope.id}`
  try {
    const existing = await place.existing()
    return existing ? existingFinding(name, existing, place) : missing(name, place)
  } catch (error) {
    return readFinding(error, place.explainedBy(), `the event subscription ${name}`)
  }
}

function existingFinding(name: string, existing: SubscriptionProperties, place: PullPlace): Finding {
  const decision = decideUpsert(existing, place.wanted)
  if (decision.action === 'refuse') return different(place)(`${name}: ${decision.because}`, { remedy: decision.fix })
  if (decision.action === 'wait') return changing(name, decision.state)
  const { provisioningState: state = 'Succeeded' } = existing
  if (state !== 'Succeeded') {
    const remedy = `${mend(place)}: that writes ${name} anew`
    return failed(`${name} is ${String(state)}: Event Grid does not try again by itself`, { remedy })
  }
  if (decision.action !== 'keep') return differing(name, decision.because, place)
  const finding = hasDeadLetter(existing)
    ? ok(`${name} is as the metadata wants it`)
    : warnOfNoDeadLetter(name, 'an event that is rejected, or delivered too often, is lost')
  return withStaying(finding, existing, place.wanted)
}

/** What forwards needs none: its events wait in the namespace topic. */
function hasDeadLetter({ deliveryConfiguration: delivery }: SubscriptionProperties): boolean {
  return delivery === undefined || delivery.queue?.deadLetterDestinationWithResourceIdentity !== undefined
}
