/** Check `azure/subscription` for pull: is the event subscription as the metadata wants it? */
import { decideUpsert } from '../../../provision/decide/decide-upsert.ts'
import type { SubscriptionProperties } from '../../../provision/decide/subscription-properties.ts'
import type { PullResource } from '../context/pull-context.ts'
import { readFinding } from '../report/arm-finding.ts'
import { type Finding, failed, ok } from '../report/finding.ts'
import {
  changing,
  different,
  differing,
  mend,
  missing,
  warnOfNoDeadLetter,
  withStaying,
} from './azure/check-subscription.ts'

export async function checkPullResource(resource: PullResource): Promise<Finding> {
  const name = `${resource.eventSubscriptionName} of ${resource.scope.id}`
  try {
    const existing = await resource.existing()
    return existing ? existingFinding(name, existing, resource) : missing(name, resource)
  } catch (error) {
    return readFinding(error, resource.explainedBy(), `the event subscription ${name}`)
  }
}

function existingFinding(name: string, existing: SubscriptionProperties, resource: PullResource): Finding {
  const decision = decideUpsert(existing, resource.wanted)
  if (decision.action === 'refuse') return different(resource)(`${name}: ${decision.because}`, { remedy: decision.fix })
  if (decision.action === 'wait') return changing(name, decision.state)
  const { provisioningState: state = 'Succeeded' } = existing
  if (state !== 'Succeeded') {
    const remedy = `${mend(resource)}: that writes ${name} anew`
    return failed(`${name} is ${String(state)}: Event Grid does not try again by itself`, { remedy })
  }
  if (decision.action !== 'keep') return differing(name, decision.because, resource)
  const finding = hasDeadLetter(existing)
    ? ok(`${name} is as the metadata wants it`)
    : warnOfNoDeadLetter(name, 'an event that is rejected, or delivered too often, is lost')
  return withStaying(finding, existing, resource.wanted)
}

/** What forwards needs none: its events wait in the namespace topic. */
function hasDeadLetter({ deliveryConfiguration: delivery }: SubscriptionProperties): boolean {
  return delivery === undefined || delivery.queue?.deadLetterDestinationWithResourceIdentity !== undefined
}
