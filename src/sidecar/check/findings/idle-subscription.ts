/** Whether the event subscription delivers here while no binding runs that would take its events. */
import { isActive } from '../../../provision/values.ts'
import { shellWord } from '../../../support/text/text.ts'
import { healthOf } from '../context/own-listener.ts'
import type { InputContext } from '../context/side-context.ts'
import { type Finding, warning } from '../report/finding.ts'

/** A warning; `undefined` where a binding runs, where nothing is delivered here, and where that is not known. Never rejects. */
export async function idleSubscription(context: InputContext): Promise<Finding | undefined> {
  const { input, mayAsk } = context
  if (!mayAsk('azure/subscription')) return undefined
  try {
    const [holder, existing] = await Promise.all([context.portHolder(), context.existing()])
    if (holder.kind !== 'check' || !existing || !isActive(existing)) return undefined
    if (context.wanted().awayFrom(existing) !== undefined) return undefined
    const answers = mayAsk('endpoint/handshake') ? await context.endpointAnswers().catch(() => undefined) : undefined
    const health = answers && healthOf(answers.health)
    // It runs on another machine.
    if (health && health.check !== holder.mark) return undefined
  } catch {
    // Other checks report why.
    return undefined
  }
  const { eventSubscriptionName: name, scope, handshakePort } = input
  const remedy = [
    'start the binding: its events wait for eventTimeToLive at most. Or delete the event subscription, if nobody uses it:',
    `az eventgrid event-subscription delete --name ${shellWord(name)} --source-resource-id ${shellWord(scope.id)}`,
  ].join('\n')
  const what = `the event subscription ${name} delivers here, and no binding runs: nothing listens on ${handshakePort}`
  return warning(what, { remedy })
}
