import type { InputMetadata } from '../metadata/metadata.ts'
import { desiredSubscription } from '../subscription/desired-subscription.ts'
import { mergeSubscription } from '../subscription/merge-subscription.ts'
import type { UnknownRecord } from '../support/is-record.ts'
import { type EventFilter, refusals } from './filter-event.ts'
import { type Finding, failed, joined, ok } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

/** A sample event, and what it is called in texts. */
export interface SampleEvent {
  readonly name: string
  readonly event: UnknownRecord
}

/** Do sample events pass the filters of the metadata, and those that stand in Azure? */
export function eventCheck(world: InputWorld, samples: readonly SampleEvent[]): Check {
  const { input, surroundings } = world
  return {
    id: 'filters/event',
    needs: ['files/metadata', 'files/secrets', 'files/names'],
    async run() {
      // Whatever keeps Azure from telling is for other checks to say.
      const standing = surroundings.offline ? 'unknown' : await world.standing().catch(() => 'unknown' as const)
      const desired = desiredSubscription(withoutSecret(input), undefined)
      const known = standing === 'unknown' ? undefined : standing
      const wanted = mergeSubscription(known?.subscription, desired).filter ?? {}
      const stands = known?.subscription.filter
      const aside =
        standing === 'unknown'
          ? '; what stands in Azure is not known'
          : stands === undefined
            ? '; nothing stands in Azure yet'
            : ''
      return joined(
        samples.flatMap(({ name, event }) => [
          judge(`${name}: the filters that init would leave`, event, wanted, aside),
          ...(stands ? [judge(`${name}: the filters that stand in Azure`, event, stands, '')] : []),
        ]),
      )
    },
  }
}

/** Filters are no matter of credentials, so none is needed for them. */
const withoutSecret = (input: InputMetadata): InputMetadata => ({ ...input, deliveryAuthentication: { kind: 'none' } })

function judge(what: string, event: UnknownRecord, filter: EventFilter, aside: string): Finding {
  const reasons = refusals(event, filter)
  if (reasons.length === 0) return ok(`${what} let it pass${aside}`)
  return failed([`${what} refuse it${aside}:`, ...reasons.map((reason) => `  ${reason}`)].join('\n'), {
    remedy:
      'change the filter in the metadata (the value default takes one away) and start the binding again, or correct the event',
  })
}
