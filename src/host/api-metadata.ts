import type { Host } from './host.ts'

export interface AppAddress {
  readonly address: string
  readonly port: number
  readonly maxConcurrency: number
  readonly protocol?: 'http' | 'grpc'
}

/** What both APIs tell of this process. */
export interface ApiIdentity {
  readonly host: Pick<Host, 'components'>
  readonly appId: string
  readonly app: AppAddress | undefined
  readonly version: string
  /** What callers have added to the metadata. */
  readonly extended: Map<string, string>
}

/** The answer to a request for metadata, with the names of Dapr's HTTP API. */
export function apiMetadata({ host, appId, app, version, extended }: ApiIdentity) {
  const runtimeVersion = `eventgrid-binding ${version}`
  return {
    ...(appId !== '' && { id: appId }),
    runtimeVersion,
    components: host.components().map(({ loaded: { component, metadata } }) => ({
      name: component.name,
      type: component.type,
      version: component.version,
      capabilities: [(metadata.input || metadata.pull) && 'INPUT_BINDING', metadata.output && 'OUTPUT_BINDING'].filter(
        Boolean,
      ),
    })),
    extended: { ...Object.fromEntries(extended), daprRuntimeVersion: runtimeVersion },
    appConnectionProperties: app
      ? {
          port: app.port,
          protocol: app.protocol ?? 'http',
          channelAddress: app.address,
          maxConcurrency: app.maxConcurrency,
        }
      : {},
    actorRuntime: { runtimeStatus: 'DISABLED', hostReady: false },
  }
}
