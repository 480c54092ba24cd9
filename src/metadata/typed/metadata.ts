// Types of the parsed metadata: input, pull, output, credential, subscription settings, `default`.
import type { MetadataIssue } from '../../core/errors.ts'
import type { Secret } from '../../core/secret.ts'
import type { AzureEnvironment } from '../fields/azure-environment.ts'
import type { Side } from '../fields/field-entry.ts'
import type { Values } from '../fields/find-field.ts'
import type { NamespaceTopicId, Scope } from '../fields/scope.ts'
import type { Setting } from '../fields/setting-value.ts'

/** How the binding proves to Azure who it is. */
export type CredentialMetadata =
  | {
      readonly kind: 'clientSecret'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecret: Secret
    }
  | { readonly kind: 'managedIdentity'; readonly clientId: string | undefined }
  | { readonly kind: 'workloadIdentity'; readonly tenantId: string | undefined; readonly clientId: string | undefined }
  | { readonly kind: 'cli'; readonly tenantId: string | undefined }
  | { readonly kind: 'default'; readonly tenantId: string | undefined; readonly clientId: string | undefined }
  /** The host handed a `TokenCredential` to the binding, so no field is needed. */
  | { readonly kind: 'host' }

/** How a delivery proves that it comes from our event subscription. */
export type DeliveryAuthentication =
  /**
   * `sources`: what tokens are derived from; the first is written into the subscription,
   * all are accepted. At least one.
   */
  | { readonly kind: 'secret'; readonly sources: readonly Secret[] }
  | {
      readonly kind: 'entra'
      /** Never a domain name: tokens name the tenant by its id. */
      readonly tenantId: string
      readonly clientId: string
      readonly eventGridClientId: string
    }
  | { readonly kind: 'none' }

/** The schemas of event that Event Grid delivers to the binding. */
export type EventSchema = Values['eventDeliverySchema']

/** Settings of the event subscription: those that were given, and its schema, which counts as set even by default. */
export type SubscriptionSettings = Pick<
  Values,
  | 'eventDeliverySchema'
  | 'includedEventTypes'
  | 'subjectBeginsWith'
  | 'subjectEndsWith'
  | 'advancedFilters'
  | 'maxDeliveryAttempts'
  | 'maxEventsPerBatch'
  | 'preferredBatchSizeInKilobytes'
  | 'labels'
> & {
  /** 1 to 1,440. */
  readonly eventTimeToLiveMinutes?: Setting<number> | undefined
  readonly deadLetter?: Setting<{ readonly storageAccountId: string; readonly container: string }> | undefined
}

/** What push and pull have in common. */
export interface EitherInput {
  /**
   * What the binding does with the event subscription: creates and updates it, reads it, or nothing. With `none` its name was given,
   * and for pull the namespace's endpoint too.
   */
  readonly provisioning: Values['provisioning']
  /**
   * How the binding proves to Azure who it is. Absent: by pull where the namespace's key does all, and where `provisioning` is `none`
   * and the fields do not describe one. Then Resource Manager is not asked.
   */
  readonly credential: CredentialMetadata | undefined
  readonly environment: AzureEnvironment
  /** The client named in remedies, where one is known. */
  readonly clientId: string | undefined
  readonly eventSubscriptionName: string
  readonly settings: SubscriptionSettings
  readonly replaceDestination: boolean
  readonly maxConcurrency: number
  readonly handlerTimeoutMs: number
  readonly subscriptionTimeoutMs: number
}

export interface InputMetadata extends EitherInput {
  readonly subscriptionId: string
  /** Normalised https URL with path, query and all. Its query counts as secret: show it by `showUrl` of redact.ts. */
  readonly subscriberEndpoint: string
  readonly handshakePort: number
  /** Absent: `::`, or `0.0.0.0` on a machine without IPv6. */
  readonly listenAddress: string | undefined
  readonly scope: Scope
  readonly deliveryAuthentication: DeliveryAuthentication
  readonly maxRequestBytes: number
}

/** The input side with `deliveryMode: pull`, validated. */
export interface PullMetadata extends EitherInput {
  readonly namespaceTopic: NamespaceTopicId
  /** Base URL without a trailing slash. Absent: ARM knows it. */
  readonly namespaceEndpoint: string | undefined
  readonly namespaceKey: Secret | undefined
  /** The scope whose events are forwarded to the namespace topic; absent: what is published to the topic is received. */
  readonly forwardedScope: Scope | undefined
  /** 60 to 300. */
  readonly lockDurationSeconds: number | undefined
}

export interface OutputMetadata {
  /** Topic endpoint as given. Its query counts as secret. */
  readonly topicEndpoint: string
  readonly authentication:
    | { readonly kind: 'accessKey'; readonly accessKey: Secret }
    | { readonly kind: 'entra'; readonly credential: CredentialMetadata }
  readonly environment: AzureEnvironment
  readonly topicSchema: Values['topicSchema']
  /** The longest that a call of `create` lasts, with all attempts. */
  readonly publishTimeoutMs: number
}

/** A component's metadata past the door: nobody checks it again. */
export interface ParsedMetadata {
  readonly input: InputMetadata | undefined
  /** The input side by pull; never together with `input`. */
  readonly pull: PullMetadata | undefined
  readonly output: OutputMetadata | undefined
  /** What the field `direction` says; `undefined` where it is not given. */
  readonly direction: ReadonlySet<Side> | undefined
  /** One sentence each, safe to print. */
  readonly warnings: readonly MetadataIssue[]
}
