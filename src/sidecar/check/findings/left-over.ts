/** Event subscriptions of another name at the same scope that deliver to the same endpoint, such as one from before a renaming. */
import { eventGridApiVersion } from '../../../core/api-versions.ts'
import { showUrl } from '../../../metadata/fields/redact.ts'
import { readWholeList } from '../../../provision/arm.ts'
import { placeAt } from '../../../provision/needs.ts'
import { isRecord } from '../../../support/text/is-record.ts'
import { oneLine, shellWord } from '../../../support/text/text.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, warning } from '../report/finding.ts'

/** A warning for each. Where the list can't be read there are none: the event subscription itself may be readable all the same. */
export async function leftOvers({ input, readArm }: InputContext, signal: AbortSignal): Promise<readonly Finding[]> {
  const { scope, eventSubscriptionName, subscriberEndpoint } = input
  const { listPath: path } = placeAt(scope, eventSubscriptionName)
  const get = (page: string) => readArm(page, eventGridApiVersion, signal)
  const list = await readWholeList(get, path, 'event subscriptions').catch(() => [])
  const endpoint = showUrl(subscriberEndpoint.replace(/\?.*$/s, ''))
  return list.flatMap((entry) => {
    const { name, properties } = isRecord(entry) ? entry : {}
    if (typeof name !== 'string' || name.toLowerCase() === eventSubscriptionName.toLowerCase()) return []
    const destination =
      isRecord(properties) && isRecord(properties.destination) ? properties.destination.properties : {}
    if (!isRecord(destination) || destination.endpointBaseUrl !== endpoint) return []
    const shown = oneLine(name, 64)
    const remedy = [
      `set eventSubscriptionName to ${shown} if it is this binding's; or delete it:`,
      `az eventgrid event-subscription delete --name ${shellWord(shown)} --source-resource-id ${shellWord(scope.id)}`,
    ].join('\n')
    const what = `the event subscription ${shown} delivers to ${endpoint} too: the binding refuses its events`
    return [warning(what, { remedy })]
  })
}
