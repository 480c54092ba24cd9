/** The answer of Dapr's metadata API, with the names that it has over HTTP. */
import type { Secret } from '../../core/secret.ts'
import type { CallOutput } from './api/call-output.ts'
import type { AppChannelOptions } from './app/app-channel.ts'
import type { ComponentSet } from './component-set.ts'

interface AppAddress extends Pick<AppChannelOptions, 'address' | 'port' | 'maxConcurrency'> {
  readonly protocol?: 'http' | 'grpc'
}

export interface ApiOptions {
  readonly running: Pick<ComponentSet, 'components'>
  readonly appId: string
  /** Where the application listens; without it components only publish. */
  readonly app: AppAddress | undefined
  readonly version: string
  /** What callers have added to the metadata. */
  readonly extended: Map<string, string>
  readonly callOutput: CallOutput
  /** The address that the API listens on: a loopback name, an IP address, or `0.0.0.0` or `::` for all. */
  readonly listeningOn: string
  /** The `dapr-api-token` of every request, health checks aside. */
  readonly token?: Secret | undefined
  readonly onShutdown: () => void
}

export function apiMetadata({ running, appId, app, version, extended }: ApiOptions) {
  const runtimeVersion = `eventgrid-binding ${version}`
  return {
    ...(appId !== '' && { id: appId }),
    runtimeVersion,
    components: running.components().map(({ loaded: { component, metadata } }) => {
      const { name, type, version } = component
      const isInput = metadata.push || metadata.pull
      const capabilities = [isInput && 'INPUT_BINDING', metadata.output && 'OUTPUT_BINDING'].filter(Boolean)
      return { name, type, version, capabilities }
    }),
    extended: { ...Object.fromEntries(extended), daprRuntimeVersion: runtimeVersion },
    appConnectionProperties: app ? connectionTo(app) : {},
    actorRuntime: { runtimeStatus: 'DISABLED', hostReady: false },
  }
}

function connectionTo({ address: channelAddress, port, maxConcurrency, protocol = 'http' }: AppAddress) {
  return { port, protocol, channelAddress, maxConcurrency }
}
