/** Publishing put together: where to, with which credential, and its health. */

import { createCredential } from '../../azure/credential.ts'
import { topicUrl } from '../../core/endpoints.ts'
import type { OutputMetadata } from '../../metadata/typed/metadata.ts'
import { createPublisher } from '../../publisher/publisher.ts'
import { decideOutputHealth } from '../health.ts'
import type { SideOptions } from '../side-options.ts'

export type OutputSide = ReturnType<typeof createOutputSide>

export function createOutputSide(output: OutputMetadata, options: SideOptions) {
  const { endpoints, logger } = options
  const { authentication, environment } = output
  const publisher = createPublisher({
    output: { ...output, topicEndpoint: topicUrl(output.topicEndpoint, endpoints) },
    endpoints,
    logger,
    ...(authentication.kind === 'entra' && {
      credential: createCredential(authentication.credential, { ...options, environment }),
    }),
  })
  return {
    publish: publisher.publish,
    settled: publisher.settled,
    close: publisher.close,
    health: () => decideOutputHealth(publisher.lastFailure()),
  }
}
