/** Publishing put together: where to, with which credential, and its health. */
import type { RenewableCredential } from '../../azure/token-keeper.ts'
import { topicUrl } from '../../core/endpoints.ts'
import type { OutputMetadata } from '../../metadata/typed/metadata.ts'
import { createPublisher } from '../../publisher/publisher.ts'
import { decideOutputHealth } from '../health.ts'
import type { SideOptions } from '../side.ts'

export type OutputSide = Awaited<ReturnType<typeof createOutputSide>>

export async function createOutputSide(output: OutputMetadata, options: SideOptions) {
  const { endpoints, logger } = options
  const publisher = createPublisher({
    output: { ...output, topicEndpoint: topicUrl(output.topicEndpoint, endpoints) },
    endpoints,
    logger,
    credential: await credentialOf(output, options),
  })
  return {
    publish: publisher.publish,
    settled: publisher.settled,
    close: publisher.close,
    health: () => decideOutputHealth(publisher.lastFailure()),
  }
}

/** Entra's libraries are loaded only where a token is asked for. */
async function credentialOf(
  { authentication, environment }: OutputMetadata,
  options: SideOptions,
): Promise<RenewableCredential | undefined> {
  if (authentication.kind !== 'entra') return undefined
  const { createCredential } = await import('../../azure/credential.ts')
  return createCredential(authentication.credential, { ...options, environment })
}
