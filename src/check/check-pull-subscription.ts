import { isRecord, type UnknownRecord } from '../support/is-record.ts'
import { readFinding } from './arm-finding.ts'
import { type Finding, failed, joined, ok, warning } from './finding.ts'
import type { PullPlace } from './pull-places.ts'
import type { Check } from './run-checks.ts'

const id = 'azure/subscription'

export function pullSubscriptionCheck(places: readonly PullPlace[]): Check {
  return {
    id,
    needs: ['azure/provider', 'azure/scope', 'azure/permission'],
    run: async () => joined(await Promise.all(places.map(judgePlace))),
  }
}

async function judgePlace(place: PullPlace): Promise<Finding> {
  const name = `${place.eventSubscriptionName} of ${place.scope.id}`
  try {
    const existing = await place.existing()
    return existing ? judgeExisting(name, existing, place) : ok(`${name} does not exist yet: init will create it`)
  } catch (error) {
    return readFinding(error, id, place.explainedBy(), `the event subscription ${name}`)
  }
}

function judgeExisting(name: string, existing: UnknownRecord, place: PullPlace): Finding {
  const decision = place.decide(existing)
  if (decision.action === 'refuse') return failed(`${name}: ${decision.because}`, { remedy: decision.fix })
  if (decision.action === 'wait') {
    return warning(`${name} is ${decision.state}: another change is under way`, {
      remedy: 'run check again when the change is done',
    })
  }
  const { provisioningState: state } = existing
  if (state !== 'Succeeded') {
    return failed(`${name} is ${String(state)}: Event Grid does not try again by itself`, {
      remedy: `start the binding again: init writes ${name} anew`,
    })
  }
  if (decision.action === 'put') {
    return warning(`${name} differs from the metadata: ${decision.because}`, {
      remedy: 'start the binding again: init brings it to what the metadata says',
    })
  }
  return hasDeadLetter(existing)
    ? ok(`${name} is as the metadata wants it`)
    : warning(`${name} has no dead-letter destination: an event that is rejected, or delivered too often, is lost`, {
        remedy: 'set deadLetterStorageAccountId and deadLetterContainer',
      })
}

/** What forwards needs none: its events wait in the namespace topic. */
function hasDeadLetter({ deliveryConfiguration }: UnknownRecord): boolean {
  if (!isRecord(deliveryConfiguration)) return true
  const { queue } = deliveryConfiguration
  return isRecord(queue) && isRecord(queue.deadLetterDestinationWithResourceIdentity)
}
