import { whatIsWrong } from '../core/errors.ts'
import { explainRejection } from '../publisher/explain-rejection.ts'
import { createTopicClient } from '../publisher/topic-client.ts'
import { systemClock } from '../support/clock.ts'
import { type Finding, failed, ok } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { OutputWorld } from './world.ts'

/** Checks that the topic accepts the key or the token. It posts an empty list, so no event is published. */
export function topicCredentialCheck(world: OutputWorld): Check {
  const byToken = world.output.authentication.kind === 'entra'
  return {
    id: 'topic/credential',
    needs: ['topic/certificate', ...(byToken ? (['azure/credential'] as const) : [])],
    run: (signal) => askTopic(world, signal),
  }
}

async function askTopic({ output, surroundings, credential }: OutputWorld, signal: AbortSignal): Promise<Finding> {
  const { authentication, topicSchema } = output
  const { endpoints } = surroundings
  const client = createTopicClient({ output, credential: credential(), endpoints, clock: systemClock })
  const proof = authentication.kind === 'accessKey' ? 'accessKey' : 'token'
  try {
    const schema = topicSchema === 'auto' ? 'CloudEventSchemaV1_0' : topicSchema
    const answer = await client.send(schema, [], signal)
    // 400 and 413 are about the empty list: the credential was checked before.
    if (
      answer.kind === 'accepted' ||
      (answer.kind === 'answered' && (answer.status === 400 || answer.status === 413))
    ) {
      return ok(`the topic takes the ${proof}`)
    }
    const error = explainRejection(answer, { output, ids: [], published: [], attempts: 1 })
    const belongsTo = answer.kind === 'no-token' ? 'azure/credential' : undefined
    return failed(whatIsWrong(error), { remedy: error.fix, ...(belongsTo && { belongsTo }) })
  } finally {
    client.close()
  }
}
