/** Typed metadata of each side from the values of fields that have no fault; whether two are the same, and their secrets. */

import { isDeepStrictEqual } from 'node:util'
import type { Side } from '../../core/component.ts'
import { deriveDeliveryCredentials } from '../../core/delivery-credential.ts'
import type { MetadataIssue } from '../../core/errors.ts'
import { querySecrets } from '../../core/scrub.ts'
import { Secret } from '../../core/secret.ts'
import { isNamespaceTopic } from '../fields/addresses.ts'
import { resetToDefault, type Setting } from '../fields/field.ts'
import type { Values } from '../fields/find-field.ts'
import { derivePullName, deriveSubscriptionName } from '../fields/scope.ts'
import type { settingFields } from '../fields/subscription-settings.ts'

/** A component's metadata past the door: nobody checks it again. */
export interface ParsedMetadata {
  /** The input side by push. */
  readonly push: PushMetadata | undefined
  /** The input side by pull; never together with `push`. */
  readonly pull: PullMetadata | undefined
  readonly output: OutputMetadata | undefined
  /** What the field `direction` says; `undefined` where the field is not given. */
  readonly direction: ReadonlySet<Side> | undefined
  /** One sentence each, safe to print. */
  readonly warnings: readonly MetadataIssue[]
}

export type PushMetadata = Readonly<ReturnType<typeof pushMetadata>>

/** The input side with `deliveryMode: pull`, validated. */
export type PullMetadata = Readonly<ReturnType<typeof pullMetadata>>

export type OutputMetadata = Readonly<ReturnType<typeof outputMetadata>>

/** What push and pull have in common. */
export type EitherInput = Readonly<ReturnType<typeof eitherInput>>

/** How the binding signs in to Azure. */
export type CredentialMetadata = Readonly<ReturnType<typeof credentialMetadata>>

/** The schemas of event that Event Grid delivers to the binding. */
export type EventSchema = Values['eventDeliverySchema']

type Converted = 'eventTimeToLive' | 'deadLetterStorageAccountId' | 'deadLetterContainer'
type GivenSettings = Omit<Pick<Values, keyof typeof settingFields>, Converted>

/** The given settings of the event subscription, and its schema, which counts as set even by default. */
export interface SubscriptionSettings extends Partial<GivenSettings> {
  readonly eventDeliverySchema: EventSchema
  /** 1 to 1,440. */
  readonly eventTimeToLiveMinutes?: Setting<number> | undefined
  readonly deadLetter?: Setting<{ readonly storageAccountId: string; readonly container: string }> | undefined
}

interface MetadataContext {
  readonly componentName?: string
  readonly credentialGiven?: boolean
  readonly provisioning: Values['provisioning']
  /** Is there anything that a credential is made of? */
  readonly hasCredential: boolean
}

export function pushMetadata(values: Values, options: MetadataContext) {
  const { listenAddress, maxRequestBytes } = values
  const subscriberEndpoint = checked(values, 'subscriberEndpoint')
  const scope = checked(values, 'scope')
  const defaultName = deriveSubscriptionName(options.componentName, { scope, subscriberEndpoint })
  return {
    ...eitherInput(values, defaultName, options),
    /** Normalised https URL with path, query and all. Its query counts as secret: show it by `showUrl` of addresses.ts. */
    subscriberEndpoint,
    scope,
    /** Absent: `::`, or `0.0.0.0` on a machine without IPv6. */
    listenAddress,
    maxRequestBytes,
    handshakePort: checked(values, 'handshakePort'),
    subscriptionId: values.subscriptionId ?? scope.subscriptionId,
    deliveryAuthentication: deliveryAuthentication(values),
  }
}

export function pullMetadata(values: Values, options: MetadataContext) {
  const { namespaceEndpoint, namespaceKey, scope } = values
  const namespaceTopic = checked(values, 'namespaceTopic')
  const isTopicItself = scope?.id.toLowerCase() === namespaceTopic.id.toLowerCase()
  return {
    ...eitherInput(values, derivePullName(options.componentName, namespaceTopic.id, scope), options),
    namespaceTopic,
    /** Base URL without a trailing slash. @default ARM is asked for the URL */
    namespaceEndpoint,
    namespaceKey,
    /** The scope whose events are forwarded to the namespace topic; absent: what is published to the topic is received. */
    forwardedScope: isTopicItself ? undefined : scope,
    /** 60 to 300. */
    lockDurationSeconds: values.lockDuration,
  }
}

export function outputMetadata(values: Values, options: MetadataContext) {
  const { topicAuthentication: kind, azureEnvironment: environment, publishTimeout, topicSchema } = values
  const topicEndpoint = checked(values, 'topicEndpoint')
  const schema: Values['topicSchema'] = isNamespaceTopic(topicEndpoint) ? 'CloudEventSchemaV1_0' : topicSchema
  return {
    /** Topic endpoint as given. Its query counts as secret. */
    topicEndpoint,
    authentication:
      kind === 'entra'
        ? { kind, credential: credentialMetadata(values, options) }
        : { kind, accessKey: checked(values, 'accessKey') },
    environment,
    topicSchema: schema,
    /** The longest that a call of `create` lasts, with all attempts. */
    publishTimeoutMs: publishTimeout,
  }
}

/** The value of a field that the parser has found present, which the compiler cannot see. A missing value is a defect of ours. */
function checked<Name extends keyof Values>(values: Values, name: Name): NonNullable<Values[Name]> {
  const value = values[name]
  if (value === undefined) throw new Error(`${name} is missing although it was checked`)
  return value
}

/** @param defaultName of the event subscription */
function eitherInput(values: Values, defaultName: string, options: MetadataContext) {
  const { clientId, maxConcurrency, replaceDestination } = values
  return {
    /**
     * What the binding does with the event subscription: creates and updates it, reads it, or nothing. With `none` its name was given,
     * and for pull the namespace's endpoint too.
     */
    provisioning: options.provisioning,
    /**
     * How the binding signs in to Azure. Absent: with pull where the namespace's key does all, and where `provisioning` is `none` and the
     * fields describe no credential. Then Resource Manager is not asked.
     */
    credential: options.hasCredential ? credentialMetadata(values, options) : undefined,
    environment: values.azureEnvironment,
    /** The client named in remedies, where one is known. */
    clientId,
    eventSubscriptionName: values.eventSubscriptionName ?? defaultName,
    settings: subscriptionSettings(values),
    replaceDestination,
    maxConcurrency,
    handlerTimeoutMs: values.handlerTimeout,
    subscriptionTimeoutMs: values.subscriptionTimeout,
  }
}

function subscriptionSettings(values: Values): SubscriptionSettings {
  const { eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters } = values
  const { maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels } = values
  return {
    ...{ eventDeliverySchema, includedEventTypes, subjectBeginsWith, subjectEndsWith, advancedFilters },
    ...{ maxDeliveryAttempts, maxEventsPerBatch, preferredBatchSizeInKilobytes, labels },
    eventTimeToLiveMinutes: values.eventTimeToLive,
    deadLetter: deadLetterSetting(values),
  }
}

function deadLetterSetting(values: Values): SubscriptionSettings['deadLetter'] {
  const { deadLetterStorageAccountId: storageAccountId, deadLetterContainer: container } = values
  if (storageAccountId === undefined || container === undefined) return undefined
  if (storageAccountId === resetToDefault || container === resetToDefault) return resetToDefault
  return { storageAccountId, container }
}

function deliveryAuthentication(values: Values) {
  const { azureEnvironment, deliveryAuthentication: kind } = values
  switch (kind) {
    case 'none':
      return { kind }
    case 'entra': {
      const known = values.eventGridClientId ?? azureEnvironment.eventGridClientId
      return {
        kind,
        /** Never a domain name: tokens name the tenant by its id. */
        tenantId: checked(values, 'tenantId'),
        clientId: checked(values, 'clientId'),
        eventGridClientId: known ?? checked(values, 'eventGridClientId'),
      }
    }
    case 'secret':
      return {
        kind,
        /** What tokens are derived from; the first is written into the subscription, all are accepted. At least one. */
        sources: values.deliveryToken ?? [checked(values, 'clientSecret')],
      }
  }
}

/** The credential that the fields describe. `host`: the host handed a `TokenCredential` to the binding, so no field is needed. */
function credentialMetadata(values: Values, { credentialGiven }: MetadataContext) {
  const { azureCredential: kind, tenantId, clientId } = values
  if (credentialGiven) return { kind: 'host' } as const
  switch (kind) {
    case 'clientSecret':
      return {
        kind,
        tenantId: checked(values, 'tenantId'),
        clientId: checked(values, 'clientId'),
        clientSecret: checked(values, 'clientSecret'),
      }
    case 'managedIdentity':
      return { kind, clientId }
    case 'cli':
      return { kind, tenantId }
    default:
      return { kind, tenantId, clientId }
  }
}

/** Compares typed metadata, or parts of them. */
export const isSameMetadata = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(revealed(one), revealed(other))

/** Replaces each `Secret` by its text. A `Secret` keeps the text in a private field, which `isDeepStrictEqual` does not compare. */
function revealed(value: unknown): unknown {
  if (value instanceof Secret) return { secret: value.reveal() }
  if (Array.isArray(value)) return value.map(revealed)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, revealed(member)]))
}

/** Every secret of the given sides, what deliveries carry, and the queries of the endpoints. */
export function secretsOf({ push, pull, output }: Partial<ParsedMetadata>): readonly string[] {
  const delivery = push ? deriveDeliveryCredentials(push).map(({ value }) => value) : []
  const endpoints = [push?.subscriberEndpoint, output?.topicEndpoint].filter((url) => url !== undefined)
  return [...secretsIn([push, pull, output, delivery]), ...endpoints.flatMap(querySecrets)]
}

function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) return [value.reveal()]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
