/** The addresses of each Azure cloud, which URLs are accepted as endpoints, and what of a URL may be shown. */

import { redacted } from '../../core/secret.ts'
import { isLoopback } from '../../support/net/hosts.ts'
import { BrokenRule } from './faults.ts'
import { parseChoice } from './rules.ts'

export const azureEnvironmentNames = ['AzurePublicCloud', 'AzureChinaCloud', 'AzureUSGovernmentCloud'] as const

export type AzureEnvironmentName = (typeof azureEnvironmentNames)[number]

/** Dapr's short names, and the Azure CLI's. */
export const otherEnvironmentNames = ['AzurePublic', 'AzureCloud', 'AzureChina', 'AzureUSGovernment'] as const

export type AzureEnvironment = Readonly<ReturnType<typeof environment>>

interface Cloud {
  readonly name: AzureEnvironmentName
  /** Entra's authority host, without a trailing slash. */
  readonly authorityHost: string
  /** Azure Resource Manager's base URL, without a trailing slash. The URL is the audience of its tokens too. */
  readonly resourceManager: string
  /**
   * What Event Grid of this cloud sends as `WebHook-Request-Origin` (azure-sdk-for-net: the Event Grid extension of WebJobs). The
   * audience of tokens that publish is the same.
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

const maxUrlLength = 4096

/**
 * The public address of the input side, normalised; without a path it is `/api/events`.
 *
 * @throws BrokenRule for a URL that is not https, or has user info or a fragment
 */
export function parseSubscriberEndpoint(text: string): string {
  const url = parseUrl(text)
  if (url.protocol !== 'https:') {
    throw new BrokenRule('must be an https URL', 'Event Grid delivers over https with a valid certificate only')
  }
  if (url.pathname === '/') url.pathname = '/api/events'
  return url.href
}

/**
 * The address of a namespace, without a trailing slash.
 *
 * @throws BrokenRule for a URL that is not https, or has a query, user info or a fragment
 */
export function parseNamespaceEndpoint(text: string): string {
  const url = parseUrl(text)
  if (url.protocol !== 'https:') throw new BrokenRule('must be an https URL')
  if (url.search !== '') throw new BrokenRule('must not hold a query')
  return url.href.replace(/(?<!\/)\/+$/, '')
}

/**
 * The address of a custom topic, unchanged.
 *
 * @throws BrokenRule where it is not https (or http on loopback), has user info or a fragment, or leads to a namespace topic
 *   but not to publish
 */
export function parseTopicEndpoint(text: string): string {
  const url = parseUrl(text)
  if (/^\/topics\/[^/:]+\/?$/i.test(url.pathname)) {
    const fix = 'write it like https://<hostname>/topics/<topic>:publish'
    throw new BrokenRule('must end in :publish where it is that of a namespace topic', fix)
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return text
  const fix = 'http is for a topic on this machine only, at localhost, 127.0.0.1 or [::1]'
  throw new BrokenRule('must be an https URL', fix)
}

/** Whether an endpoint belongs to a namespace topic (`.../topics/{topic}:publish`) and not to a custom topic. */
export function isNamespaceTopic(topicEndpoint: string): boolean {
  return /\/topics\/[^/]+:publish$/i.test(URL.parse(topicEndpoint)?.pathname ?? '')
}

function parseUrl(text: string): URL {
  if (text.length > maxUrlLength) throw new BrokenRule(`must be at most ${maxUrlLength} characters long`)
  // `URL` accepts addresses that other readers refuse, such as one with a missing slash.
  if (/[\s\\]/.test(text)) throw new BrokenRule('must hold neither white space nor a backslash')
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (!url) throw new BrokenRule('must be an https URL', 'write it like https://<hostname>/api/events')
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) throw new BrokenRule('must not hold user info', 'remove the part before the @')
  if (/[{}]/.test(url.hostname)) {
    const fix = 'only daprd and `run` fill in {uuid} and the like'
    throw new BrokenRule('must not hold braces in the name of its host', fix)
  }
  if (text.includes('#')) throw new BrokenRule('must not hold a fragment', 'take out the # and what follows')
  return url
}

/** The name of a topic: that in a path `/topics/{name}`, else the first label of a host of Azure; `undefined` for other hosts. */
export function topicName({ pathname, hostname }: URL): string | undefined {
  const named = /^\/topics\/([^/:]+)/.exec(pathname)?.[1]
  return named ?? /^([^.]+)\..*\beventgrid\.azure\.(?:net|cn|us)$/.exec(hostname)?.[1]
}

/** A URL without what may be secret in it: user info and query become `(redacted)`, a fragment is left out. */
export function showUrl(text: string): string {
  const url = URL.parse(text)
  if (!url?.host) return text.includes('@') ? redacted : text.replace(/[?#].*$/s, `?${redacted}`)
  const userInfo = url.username || url.password ? `${redacted}@` : ''
  const query = url.search ? `?${redacted}` : ''
  return `${url.protocol}//${userInfo}${url.host}${url.pathname}${query}`
}
