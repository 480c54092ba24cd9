/** Addresses of Azure that differ from the cloud's own: the emulator, a private cloud, a proxy. */
export interface Endpoints {
  /** Base URL of Azure Resource Manager, https. @default that of `azureEnvironment` */
  readonly resourceManager?: string
  /**
   * Entra's authority host, https. One outside Azure turns instance discovery off. @default that of `azureEnvironment`
   */
  readonly authorityHost?: string
  /** Certificates (PEM) to trust beside those that Node trusts. @default none */
  readonly ca?: string
}

/** The endpoints in the environment of a process: AZURE_RESOURCE_MANAGER_URL and AZURE_AUTHORITY_HOST. */
export function endpointsFromEnvironment(environment: Readonly<Record<string, string | undefined>>): Endpoints {
  const resourceManager = environment.AZURE_RESOURCE_MANAGER_URL
  const authorityHost = environment.AZURE_AUTHORITY_HOST
  return {
    ...(resourceManager ? { resourceManager } : {}),
    ...(authorityHost ? { authorityHost } : {}),
  }
}

/** The variable of the proxy that the Azure SDKs would use, if its value is no http or https URL: they would ignore it, or throw. */
export function brokenProxy(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const names = ['HTTPS_PROXY', 'ALL_PROXY', 'HTTP_PROXY'].flatMap((name) => [name, name.toLowerCase()])
  const name = names.find((name) => environment[name])
  return name && !/^https?:$/.test(URL.parse(environment[name] ?? '')?.protocol ?? '') ? name : undefined
}

/**
 * Where the topic of an endpoint in Azure is at an emulator; any other endpoint as it is.
 *
 * @param emulator its https URL
 */
export function topicAtEmulator(topicEndpoint: string, emulator: string): string {
  const url = new URL(topicEndpoint)
  const topic = /^([a-z\d-]+)\.[a-z\d-]+\.eventgrid\.azure\.(net|us|cn)$/.exec(url.hostname)?.[1]
  if (topic === undefined) return topicEndpoint
  return new URL(`/topics/${topic}${url.pathname === '/' ? '/api/events' : url.pathname}`, emulator).href
}
