/** What differs between the clouds of Azure: addresses, scopes of tokens, ids and the origin of handshakes. */
import { parseChoice } from './plain-values.ts'

export const azureEnvironmentNames = ['AzurePublicCloud', 'AzureChinaCloud', 'AzureUSGovernmentCloud'] as const

export type AzureEnvironmentName = (typeof azureEnvironmentNames)[number]

/** Dapr's short names, and the Azure CLI's. */
export const otherEnvironmentNames = ['AzurePublic', 'AzureCloud', 'AzureChina', 'AzureUSGovernment'] as const

export type AzureEnvironment = Readonly<ReturnType<typeof environment>>

interface Cloud {
  readonly name: AzureEnvironmentName
  /** Entra's authority host, without a trailing slash. */
  readonly authorityHost: string
  /** Azure Resource Manager's base URL, without a trailing slash. It is the audience of its tokens too. */
  readonly resourceManager: string
  /**
   * What Event Grid of this cloud sends as `WebHook-Request-Origin` (azure-sdk-for-net: the Event Grid extension of WebJobs). It is the
   * audience of tokens that publish, too.
   */
  readonly eventGridOrigin: string
  /** Event Grid's own application id in this cloud (Event Grid: secure-webhook-delivery); unknown for China. */
  readonly eventGridClientId: string | undefined
  /** Host of the issuer of Entra's v1 tokens. */
  readonly tokenIssuerHostV1: string
}

const environment = (cloud: Cloud) => ({
  ...cloud,
  /** The scope of an ARM token. */
  resourceManagerScope: `${cloud.resourceManager}/.default`,
  /** The scope of a token that publishes to a topic. */
  topicScope: `https://${cloud.eventGridOrigin}/.default`,
})

export const azureEnvironments: Readonly<Record<AzureEnvironmentName, AzureEnvironment>> = {
  AzurePublicCloud: environment({
    name: 'AzurePublicCloud',
    authorityHost: 'https://login.microsoftonline.com',
    resourceManager: 'https://management.azure.com',
    eventGridOrigin: 'eventgrid.azure.net',
    eventGridClientId: '4962773b-9cdb-44cf-a8bf-237846a00ab7',
    tokenIssuerHostV1: 'sts.windows.net',
  }),
  AzureChinaCloud: environment({
    name: 'AzureChinaCloud',
    authorityHost: 'https://login.chinacloudapi.cn',
    resourceManager: 'https://management.chinacloudapi.cn',
    eventGridOrigin: 'eventgrid.azure.cn',
    eventGridClientId: undefined,
    tokenIssuerHostV1: 'sts.chinacloudapi.cn',
  }),
  AzureUSGovernmentCloud: environment({
    name: 'AzureUSGovernmentCloud',
    authorityHost: 'https://login.microsoftonline.us',
    resourceManager: 'https://management.usgovcloudapi.net',
    eventGridOrigin: 'eventgrid.azure.us',
    eventGridClientId: '54316b56-3481-47f9-8f30-0300f5542a7b',
    tokenIssuerHostV1: 'sts.windows.net',
  }),
}

/**
 * The cloud that goes by a name, in any letter case: one of {@link azureEnvironmentNames} or {@link otherEnvironmentNames}.
 *
 * @throws BrokenRule
 */
export function parseAzureEnvironment(text: string): AzureEnvironment {
  const known = otherEnvironmentNames.some((name) => name.toLowerCase() === text.toLowerCase())
  const name = known ? text.replace(/^AzureCloud$/i, 'AzurePublic').concat('Cloud') : text
  return azureEnvironments[parseChoice(name, azureEnvironmentNames)]
}
