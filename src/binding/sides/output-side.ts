// Publishing side put together: publisher, topic URL, token credential, its health.

import { createCredential } from '../../azure/credential.ts'
import { topicUrl } from '../../core/endpoints.ts'
import type { OutputMetadata } from '../../metadata/typed/metadata.ts'
import { createPublisher, type Publisher } from '../../publisher/publisher.ts'
import { judgeOutput, type SideHealth } from '../health.ts'
import type { SideOptions } from './side-options.ts'

export interface OutputSide extends Pick<Publisher, 'publish' | 'settled' | 'close'> {
  health(): SideHealth
}

export function createOutputSide(output: OutputMetadata, options: SideOptions): OutputSide {
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
    health: () => judgeOutput(publisher.lastFailure()),
  }
}
