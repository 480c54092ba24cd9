// Allowed range and form of every field: ports, durations, token length, `maxConcurrency`, container names.
import { isIP } from 'node:net'
import { z } from 'zod'
import { Secret } from '../../core/secret.ts'
import { resetToDefault, type Setting } from '../typed/metadata.ts'
import { parseAdvancedFilters } from './advanced-filters.ts'
import { parseAzureEnvironment } from './azure-environment.ts'
import { BrokenRule } from './broken-rule.ts'
import { parseNamespaceEndpoint, parseSubscriberEndpoint, parseTopicEndpoint } from './parse-endpoint.ts'
import { parseChoice, parseDuration, parseInteger, parseList } from './plain-values.ts'
import { parseEventSource, parseNamespaceTopic, parseScope, resourceType } from './scope.ts'
import { parsePullName, parseSubscriptionName } from './subscription-name.ts'

/** A text that a function parses; what breaks its rule becomes an issue whose `params.fix` says what to write. */
function parsedBy<T>(parse: (text: string) => T) {
  return z.string().transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error
      context.addIssue({ code: 'custom', message: error.rule, params: { fix: error.fix } })
      return z.NEVER
    }
  })
}

/** A setting of the event subscription, which `default` takes back to Event Grid's own. */
function setting<T>(parse: (text: string) => T) {
  const parseOrReset = (text: string): Setting<T> => (text.toLowerCase() === 'default' ? resetToDefault : parse(text))
  return parsedBy(parseOrReset).optional()
}

const choice = <const Word extends string>(words: readonly Word[]) => parsedBy((text) => parseChoice(text, words))
const integer = (atLeast: number, atMost: number) => (text: string) => parseInteger(text, atLeast, atMost)
const duration = (atLeast: string, atMost: string) => (text: string) => parseDuration(text, { atLeast, atMost })
/**
 * A secret goes into an HTTP header or form, so a control character can only be an accident: the
 * last line break of a file, mostly.
 */
const secret = parsedBy((text) => {
  if (/\p{Cc}/u.test(text)) {
    throw new BrokenRule(
      'must not hold a line break or another control character',
      'the end of a file it was read from?',
    )
  }
  return new Secret(text)
})
const flag = choice(['true', 'false']).transform((word) => word === 'true')
const asIs = (text: string) => text

/** A parser of texts that match a pattern, which gives them unchanged. */
const matching = (pattern: RegExp, rule: string) => (text: string) => {
  if (pattern.test(text)) return text
  throw new BrokenRule(rule)
}

/** Only what a tenant's id or domain name is made of: it becomes part of a URL. */
const tenantId = parsedBy(
  matching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/, 'must be an id or a domain name: letters, digits, dots and hyphens'),
)
const id = parsedBy(matching(/^[^\s/?#\p{C}]{1,256}$/u, 'must be an id, without spaces or slashes'))

const listenAddress = parsedBy((text) => {
  if (isIP(text) || /^[A-Za-z0-9.-]{1,253}$/.test(text)) return text
  throw new BrokenRule('must be an IP address or a host name', 'write it without port and brackets, like 0.0.0.0 or ::')
})

const deliveryToken = parsedBy((text) => {
  const tokens = parseList(text)
  // HKDF stretches nothing: a source that can be guessed gives a token that can be guessed.
  if (tokens.some((token) => token.length < 16 || token.length > 1024)) {
    throw new BrokenRule('must hold tokens of 16 to 1024 characters', 'make one with: openssl rand -base64 32')
  }
  if (tokens.length > 10) throw new BrokenRule('must hold at most 10 tokens')
  return tokens.map((token) => new Secret(token))
})

const storageAccount = (text: string): string => {
  const scope = parseScope(text)
  if (resourceType(scope) !== 'microsoft.storage/storageaccounts')
    throw new BrokenRule(
      'must be the resource id of a storage account',
      'it ends with /providers/Microsoft.Storage/storageAccounts/{name}',
    )
  return scope.id
}

/** Azure Storage: naming-and-referencing-containers. */
const containerName = matching(
  /^(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/,
  'must be 3 to 63 lower-case letters, digits and single hyphens',
)

const eventTimeToLive = (text: string): number => {
  // Azure's own field counts minutes: eventTimeToLiveInMinutes.
  const minutes = parseDuration(text, { atLeast: '1m', atMost: '24h', unit: 'm' }) / 60_000
  if (!Number.isInteger(minutes)) throw new BrokenRule('must be whole minutes')
  return minutes
}

const eventSchemas = ['CloudEventSchemaV1_0', 'EventGridSchema'] as const

/** Fields that stand for one credential; which of them must be there depends on `azureCredential`. */
const credentialShape = {
  tenantId: tenantId.optional(),
  clientId: id.optional(),
  clientSecret: secret.optional(),
  azureCredential: choice(['clientSecret', 'managedIdentity', 'workloadIdentity', 'cli', 'default']),
  azureEnvironment: parsedBy(parseAzureEnvironment),
}

/** Settings of the event subscription and bounds that push and pull share. */
const settingsShape = {
  includedEventTypes: setting(parseList),
  subjectBeginsWith: setting(asIs),
  subjectEndsWith: setting(asIs),
  advancedFilters: setting(parseAdvancedFilters),
  maxDeliveryAttempts: setting(integer(1, 30)),
  eventTimeToLive: setting(eventTimeToLive),
  maxEventsPerBatch: setting(integer(1, 5000)),
  preferredBatchSizeInKilobytes: setting(integer(1, 1024)),
  deadLetterStorageAccountId: setting(storageAccount),
  deadLetterContainer: setting(containerName),
  labels: setting(parseList),
  replaceDestination: flag,
  eventDeliverySchema: parsedBy((text) =>
    text.toLowerCase() === 'default' ? 'CloudEventSchemaV1_0' : parseChoice(text, eventSchemas),
  ),
  maxConcurrency: parsedBy(integer(1, 10_000)),
  subscriptionTimeout: parsedBy(duration('1ms', '24h')),
  provisioning: choice(['manage', 'check', 'none']),
}

const lockDuration = (text: string): number => {
  const ms = parseDuration(text, { atLeast: '60s', atMost: '300s' })
  if (ms % 1000 !== 0) throw new BrokenRule('must be whole seconds')
  return ms
}

/** The input side: texts of its fields, with the defaults of the table filled in, to values. */
export const inputSchema = ({ allowAnyPort }: { readonly allowAnyPort: boolean }) =>
  z.object({
    ...credentialShape,
    subscriptionId: id.optional(),
    subscriberEndpoint: parsedBy(parseSubscriberEndpoint),
    handshakePort: parsedBy((text) => (allowAnyPort && text === '0' ? 0 : parseInteger(text, 1, 65_535, 'port'))),
    scope: parsedBy(parseEventSource),
    eventSubscriptionName: parsedBy(parseSubscriptionName).optional(),
    ...settingsShape,
    deliveryAuthentication: choice(['secret', 'entra', 'none']),
    deliveryToken: deliveryToken.optional(),
    eventGridClientId: id.optional(),
    listenAddress: listenAddress.optional(),
    maxRequestBytes: parsedBy(integer(2_097_152, 67_108_864)),
    handlerTimeout: parsedBy(duration('1ms', '25s')),
  })

/** The input side with `deliveryMode: pull`. */
export const pullSchema = z.object({
  ...credentialShape,
  ...settingsShape,
  scope: parsedBy(parseScope).optional(),
  eventSubscriptionName: parsedBy(parsePullName).optional(),
  namespaceTopic: parsedBy(parseNamespaceTopic),
  namespaceEndpoint: parsedBy(parseNamespaceEndpoint).optional(),
  namespaceKey: secret.optional(),
  lockDuration: parsedBy(lockDuration).optional(),
  maxDeliveryAttempts: setting(integer(1, 10)),
  handlerTimeout: parsedBy(duration('1ms', '1h')),
})

export const outputSchema = z.object({
  ...credentialShape,
  accessKey: secret.optional(),
  topicEndpoint: parsedBy(parseTopicEndpoint),
  topicAuthentication: choice(['accessKey', 'entra']),
  topicSchema: choice(['auto', ...eventSchemas]),
  publishTimeout: parsedBy(duration('1s', '10m')),
})

export type InputValues = z.output<ReturnType<typeof inputSchema>>
export type PullValues = z.output<typeof pullSchema>
export type OutputValues = z.output<typeof outputSchema>
/** Values of a side of which some are missing, or have a fault. */
export type Partly<Values> = { readonly [Name in keyof Values]?: Values[Name] | undefined }
