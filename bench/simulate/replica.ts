import type { SubscriptionControl } from '../../src/binding/upkeep/subscription-control.ts'
import { createSubscriptionKeeper } from '../../src/binding/upkeep/subscription-keeper.ts'
import { deliveryTokenHeader, deriveDeliveryCredentials } from '../../src/core/delivery-credential.ts'
import type { Logger } from '../../src/core/logger.ts'
import { Secret } from '../../src/core/secret.ts'
import { type CredentialRefusal, refuseCredential } from '../../src/listener/admit/credential.ts'
import { createSharedTokenCheck } from '../../src/listener/admit/shared-token.ts'
import { azureEnvironments } from '../../src/metadata/fields/azure-environment.ts'
import type { InputMetadata } from '../../src/metadata/typed/metadata.ts'
import { inspectSubscription } from '../../src/provision/decide/inspect-subscription.ts'
import { upsertSubscription } from '../../src/provision/upsert/upsert-subscription.ts'
import type { SimulatedArm } from './arm.ts'
import type { Figures } from './figures.ts'
import type { Random } from './random.ts'
import type { SimulatedTime } from './time.ts'

/** What the component file of a deployment says. */
export interface Version {
  readonly endpointUrl: string
  /** Sources of the credential, newest first: `clientSecret`, or the list of `deliveryToken`. */
  readonly secrets: readonly string[]
  readonly expectedReplicas: number
}

/** What a replica consists of that all replicas of a version share. */
interface Prepared {
  readonly input: InputMetadata
  readonly credential: Secret | undefined
  readonly check: ReturnType<typeof createSharedTokenCheck>
}

/** A binding without sockets: its keeper, its upserts and its judgement of a delivery's credential are the product's own. */
export interface Replica {
  start(): void
  /** Judges a delivery by its credential, as the listener does. */
  judge(credentials: string | undefined): CredentialRefusal | undefined
  isProvisioned(): boolean
  /** What `serve` answers to the readiness probe. */
  isReady(): boolean
  close(): void
  /** Set while the replica's zone has no way to ARM. */
  cutOff: boolean
}

export interface ReplicaOptions {
  readonly time: SimulatedTime
  readonly random: Random
  readonly figures: Figures
  readonly arm: SimulatedArm
}

const scope = {
  kind: 'resourceGroup',
  id: '/subscriptions/s/resourceGroups/shop',
  subscriptionId: 's',
  resourceGroup: 'shop',
} as const
const prepared = new Map<string, Prepared>()

/** The metadata of a version, and the credentials that its replicas derive: once for all of them. */
function prepare(version: Version): Prepared {
  const key = JSON.stringify(version)
  const known = prepared.get(key)
  if (known) return known
  const sources = version.secrets.map((secret) => new Secret(secret))
  const input: InputMetadata = {
    credential: { kind: 'clientSecret', tenantId: 't', clientId: 'c', clientSecret: new Secret('unused') },
    environment: azureEnvironments.AzurePublicCloud,
    ...{ subscriptionId: 's', clientId: 'c', scope, eventSubscriptionName: 'orders' },
    ...{ subscriberEndpoint: version.endpointUrl, handshakePort: 9000, listenAddress: undefined },
    settings: { eventDeliverySchema: 'CloudEventSchemaV1_0' },
    replaceDestination: false,
    deliveryAuthentication: { kind: 'secret', sources },
    ...{ maxConcurrency: 256, maxRequestBytes: 4_194_304, handlerTimeoutMs: 25_000, subscriptionTimeoutMs: 120_000 },
    provisioning: 'manage',
  }
  const credentials = deriveDeliveryCredentials(sources, input)
  const fresh = { input, credential: credentials[0]?.value, check: createSharedTokenCheck(credentials) }
  prepared.set(key, fresh)
  return fresh
}

/** Makes a replica. It runs as `serve` does: the event subscription is set up in the background. */
export function createReplica(version: Version, { time, random, figures, arm }: ReplicaOptions): Replica {
  const { input, credential, check } = prepare(version)
  const { clock } = time
  const warn = (message: string) => {
    figures.warnings.set(message, (figures.warnings.get(message) ?? 0) + 1)
  }
  const logger: Logger = { debug() {}, info() {}, warn, error: warn }
  let handled = 0
  const api = arm.apiFor({ reachesArm: () => !replica.cutOff })
  const upsert: SubscriptionControl['upsert'] = (how) =>
    upsertSubscription({
      api,
      input,
      logger,
      clock,
      random,
      ...(credential && { deliveryCredential: credential }),
      ...how,
    })
  const keeper = createSubscriptionKeeper({
    ...{ logger, clock, random, upsert },
    replicas: version.expectedReplicas,
    timeoutMs: input.subscriptionTimeoutMs,
    handled: () => handled,
    addsCredential: credential !== undefined,
    async inspect(signal) {
      const existing = await api.read({ signal, deadline: Number.POSITIVE_INFINITY }, 'plain')
      return inspectSubscription(existing, input.subscriberEndpoint)
    },
  })
  const replica: Replica = {
    cutOff: false,
    start() {
      time.touched()
      keeper.bringUp('forever').catch(() => {})
    },
    judge(credentials) {
      const evidence = check({ [deliveryTokenHeader.toLowerCase()]: credentials })
      if (evidence.kind === 'proven') {
        handled++
        return undefined
      }
      const refusal = refuseCredential(evidence, { namesUs: true, writtenAt: undefined, now: clock.now() })
      if (refusal.foreign) {
        time.touched()
        keeper.repair()
      }
      return refusal
    },
    isProvisioned: () => keeper.state().state === 'provisioned',
    isReady: keeper.isReady,
    close() {
      time.touched()
      keeper.close().catch(() => {})
    },
  }
  return replica
}
