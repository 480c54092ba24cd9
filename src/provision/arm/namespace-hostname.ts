/** The host name of a namespace, as Resource Manager has it. */
import { ArmFailureError } from '../../azure/read-failure.ts'
import { isRecord } from '../../support/text/is-record.ts'
import type { Arm } from './arm-client.ts'
import type { CallLimits } from './call-limits.ts'

/** Rejects where ARM does not answer, or names none that anybody can ask. */
export async function readHostname(arm: Arm, namespaceId: string, limits: CallLimits): Promise<string> {
  const answer = await arm.ask({ path: namespaceId }, limits)
  const properties = isRecord(answer) && isRecord(answer.properties) ? answer.properties : {}
  const { topicsConfiguration } = properties
  const hostname = isRecord(topicsConfiguration) ? topicsConfiguration.hostname : undefined
  const isHost = typeof hostname === 'string' && /^[\w.:/-]{1,500}$/.test(hostname)
  // What only looks like one, such as `host:x`, is no address.
  if (isHost && URL.canParse(`https://${hostname}`)) return hostname
  throw new ArmFailureError({ kind: 'answerUnread', message: `it names no host for ${namespaceId}` })
}
