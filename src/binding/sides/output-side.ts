/** Publishing put together: where to, with which credential, and its health. */
import { topicUrl } from '../../core/endpoints.ts'
import type { OutputMetadata } from '../../metadata/typed/metadata.ts'
import { createPublisher } from '../../publisher/publisher.ts'
import { decideOutputHealth } from '../health.ts'
import { loadCredential, type SideOptions } from '../side.ts'

export type OutputSide = Awaited<ReturnType<typeof createOutputSide>>

export async function createOutputSide(output: OutputMetadata, options: SideOptions) {
  const { endpoints, logger } = options
  const { authentication } = output
  const publisher = createPublisher({
    output: { ...output, topicEndpoint: topicUrl(output.topicEndpoint, endpoints) },
    endpoints,
    logger,
    credential:
      authentication.kind === 'entra' ? await loadCredential(authentication.credential, output, options) : undefined,
  })
  return {
    publish: publisher.publish,
    settled: publisher.settled,
    close: publisher.close,
    health: () => decideOutputHealth(publisher.lastFailure()),
  }
}
