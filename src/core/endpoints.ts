/** The addresses that are asked in place of Azure's, such as the addresses of an emulator. */

/** Addresses of Azure that differ from the cloud's own: the emulator, a private cloud, a proxy. */
export interface Endpoints {
  /** Base URL of Azure Resource Manager, https. @default that of `azureEnvironment` */
  readonly resourceManager?: string
  /** Entra's authority host, https. One outside Azure turns instance discovery off. @default that of `azureEnvironment` */
  readonly authorityHost?: string
  /** Certificates (PEM) to trust beside those that Node trusts. @default none */
  readonly ca?: string
  /**
   * Base URL of an emulator that stands in for the topics and namespaces with host names of Azure. In place of
   * `https://orders.westeurope-1.eventgrid.azure.net/api/events` the path `/topics/orders/api/events` of the emulator is asked.
   * @default none: these hosts are asked themselves
   */
  readonly topics?: string
}

/** The endpoints in the environment of a process: AZURE_RESOURCE_MANAGER_URL and AZURE_AUTHORITY_HOST. */
export function endpointsFromEnvironment(environment: Readonly<Record<string, string | undefined>>): Endpoints {
  const { AZURE_RESOURCE_MANAGER_URL: resourceManager, AZURE_AUTHORITY_HOST: authorityHost } = environment
  return { ...(resourceManager && { resourceManager }), ...(authorityHost && { authorityHost }) }
}

/**
 * Where the topic or namespace of an endpoint is: at `endpoints.topics` if that is set and the host name is one of Azure's,
 * else at the endpoint itself.
 */
export function topicUrl(endpoint: string, { topics }: Endpoints): string {
  const url = new URL(endpoint)
  const name = /^([a-z\d-]+)\.[a-z\d-]+\.eventgrid\.azure\.(net|us|cn)\.?$/.exec(url.hostname)?.[1]
  if (topics === undefined || name === undefined) return endpoint
  if (url.pathname.startsWith('/topics/')) return new URL(`/namespaces/${name}${url.pathname}`, topics).href
  return new URL(`/topics/${name}${url.pathname === '/' ? '/api/events' : url.pathname}`, topics).href
}

/** As {@link topicUrl}, for the base URL of a namespace. */
export function namespaceUrl(namespaceEndpoint: string, endpoints: Endpoints): string {
  return topicUrl(`${namespaceEndpoint}/topics/`, endpoints).slice(0, -'/topics/'.length)
}
