/** Check `topic/credential`: does the topic take the key or token, tried with an empty list? */

import { createTopicClient } from '../../../publisher/topic.ts'
import { explainRejection } from '../../../publisher/topic-answer.ts'
import { systemClock } from '../../../support/time/clock.ts'
import type { OutputContext } from '../context/side-context.ts'
import { type Finding, failedBy, ok } from '../report/finding.ts'

/** Posts an empty list, so no event is published. */
export async function askTopic(
  { output, surroundings, credential }: OutputContext,
  signal: AbortSignal,
): Promise<Finding> {
  const { authentication, topicSchema } = output
  const { endpoints } = surroundings
  const client = createTopicClient({ output, credential: credential(), endpoints, clock: systemClock })
  const proof = authentication.kind === 'accessKey' ? 'accessKey' : 'token'
  try {
    const schema = topicSchema === 'auto' ? 'CloudEventSchemaV1_0' : topicSchema
    const answer = await client.send(schema, [], signal).answer
    // 400 and 413 are about the empty list: the credential was checked before.
    const isAboutList = answer.kind === 'answered' && [400, 413].includes(answer.status) && !answer.isForeign
    if (answer.kind === 'accepted' || isAboutList) return ok(`the topic takes the ${proof}`)
    const finding = failedBy(explainRejection(answer, { output, ids: [], published: [], attempts: 1 }))
    return answer.kind === 'no-token' ? { ...finding, belongsTo: 'azure/credential' } : finding
  } finally {
    client.close()
  }
}
