/** Check `filters/event`: would the filters let a sample event pass? */
import { readSubscriptionProperties } from '../../../provision/values.ts'
import type { UnknownRecord } from '../../../support/text/is-record.ts'
import type { InputContext } from '../context/side-context.ts'
import { caseDifferences, type EventFilter, refusals } from '../findings/filter-event.ts'
import { type Finding, failed, joined, ok } from '../report/finding.ts'

export interface SampleEvent {
  readonly name: string
  readonly event: UnknownRecord
}

export async function checkSamples(context: InputContext, samples: readonly SampleEvent[]): Promise<Finding> {
  // Other checks report why Azure cannot be asked.
  const existing = context.surroundings.offline ? 'unknown' : await context.existing().catch(() => 'unknown' as const)
  const known = existing === 'unknown' ? undefined : existing
  const written = readSubscriptionProperties({ properties: context.wanted().merge(known ?? {}, { resets: 'apply' }) })
  const wanted = ('properties' in written && written.properties.filter) || {}
  const provisioned = known?.filter
  let aside = ''
  if (existing === 'unknown') aside = '; the filters in Azure are not known'
  else if (!provisioned) aside = '; Azure has no event subscription yet'
  return joined(
    samples.flatMap(({ name, event }) => [
      filterFinding(`${name}: the filters that init would leave`, event, wanted, aside),
      ...(provisioned ? [filterFinding(`${name}: the filters in Azure`, event, provisioned, '')] : []),
    ]),
  )
}

function filterFinding(what: string, event: UnknownRecord, filter: EventFilter, aside: string): Finding {
  const reasons = refusals(event, filter)
  const cases = caseDifferences(event, filter)
  const alike =
    cases.length > 0 ? `; ${cases.join('; ')}: Event Grid is believed to ignore it, write it as the event does` : ''
  if (reasons.length === 0) return ok(`${what} let it pass${aside}${alike}`)
  const remedy =
    'change the filter in the metadata (the value default takes one away) and start the binding again, or correct the event'
  const lines = [`${what} refuse it${aside}:`, ...[...reasons, ...cases].map((reason) => `  ${reason}`)]
  return failed(lines.join('\n'), { remedy })
}
