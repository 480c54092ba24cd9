/** Reads the event subscriptions of one side and writes nothing: `provisioning: check`, a plan of fields, the periodic poll. */
import { ArmFailureError } from '../azure/read-failure.ts'
import { untilHandshake } from '../azure/refusals/resource-manager-refusal.ts'
import type { Arm, CallLimits } from './arm.ts'
import { asPermitted, type Detail, type LookedUp, lookUp } from './arm-subscription.ts'
import { type Attempt, isDelivering, type ProvisionTarget, type ProvisionTask, repeatAttempts } from './attempts.ts'
import { decideUpsert, type FieldChange, subscriptionIdOf, type Upsert, type WantedSubscription } from './decide.ts'
import { isActive, isChanging, isProvisioned, type SubscriptionProperties, webHookOf } from './values.ts'

/** What differs from the metadata. */
export interface Differences {
  /** A clause without a secret. */
  readonly problem: string
  /** Deliveries come here without our credential. */
  readonly lacksCredential: boolean
  /** The event subscription delivers nothing before it is written again, as in the state `Failed`. */
  readonly isDown: boolean
  /** The event subscription delivers to another endpoint or destination. */
  readonly isAway: boolean
}

/** How a check ended. `notPermitted`: the client may not read the event subscription, which is used as it stands. */
export interface SubscriptionCheck {
  readonly action: 'found' | 'notPermitted'
  /** Absent where the event subscriptions are as the metadata ask. */
  readonly differences?: Differences | undefined
}

/**
 * Reads the event subscriptions until all exist, and tells what differs from the metadata. Sends no request but GET: what ARM tells by
 * other calls alone (the query of the URL, secret attributes) is not compared.
 *
 * @throws BindingError as {@link upsertSubscriptions}; TIMEOUT where one does not exist in time
 */
export async function checkSubscriptions(target: ProvisionTarget, task: ProvisionTask): Promise<SubscriptionCheck> {
  const { wanted, input } = target
  async function checkAll({ read, readHost }: Attempt): Promise<SubscriptionCheck> {
    const found: FoundSubscription[] = []
    for (const subscription of wanted) {
      const existing = await read(subscription, 'plain')
      const delivers = existing !== undefined && isDelivering(existing, subscription)
      task.onLook?.({ exists: existing !== undefined, delivers, lacksCredential: false })
      if (!existing) throw notThere(subscription)
      found.push({ wanted: subscription, existing: subscription.assumeHidden(existing) })
    }
    task.logger.info(`the event subscription ${input.eventSubscriptionName} exists`, {
      scope: wanted.at(-1)?.place.sourceId,
    })
    await readHost()
    return { action: 'found', differences: differencesOf(found) }
  }
  return repeatAttempts<SubscriptionCheck>(target, task, checkAll, { action: 'notPermitted' })
}

/** What {@link upsertSubscriptions} would do with one event subscription. Holds no secret. */
export interface PlannedSubscription {
  /** The resource id of the event subscription. */
  readonly id: string
  /** `wait`: somebody changes the event subscription now. `refuse`: it must not be written, see `because` and `fix`. */
  readonly action: Upsert['action']
  /** Why, as a clause; absent with `keep`. */
  readonly because?: string
  readonly fix?: string
  /** Empty with `keep`, `wait` and `refuse`. */
  readonly changes: readonly FieldChange[]
  /** What a write would take from somebody, and what could not be compared, a sentence each. */
  readonly warnings: readonly string[]
}

const notCompared =
  'the query of the URL and secret delivery attributes are not compared, because this client may not read them'

/**
 * Reads the event subscriptions and decides, and writes nothing. One entry for push; for pull the Queue event subscription, then the one
 * that forwards from another scope, if there is one.
 *
 * @throws BindingError as {@link upsertSubscriptions}
 */
export async function planSubscriptions(
  target: ProvisionTarget,
  task: ProvisionTask,
): Promise<readonly PlannedSubscription[]> {
  const { wanted } = target
  async function planAll({ read }: Attempt): Promise<readonly PlannedSubscription[]> {
    const plans: PlannedSubscription[] = []
    for (const subscription of wanted) {
      const { found, isPlain } = await asPermitted((detail) => read(subscription, detail))
      const existing = found && isPlain ? subscription.assumeHidden(found) : found
      plans.push(planOf(subscription, decideUpsert(existing, subscription), isPlain ? [notCompared] : []))
    }
    return plans
  }
  return repeatAttempts(target, task, planAll)
}

/** A decision without what it would write, which holds secrets. */
function planOf({ place }: WantedSubscription, upsert: Upsert, warnings: readonly string[]): PlannedSubscription {
  const plan = { id: subscriptionIdOf(place), changes: [], warnings }
  if (upsert.action === 'keep' || upsert.action === 'refuse') return { ...plan, ...upsert }
  if (upsert.action === 'wait') return { ...plan, action: 'wait', because: `it is ${upsert.state}` }
  const { action, because, changes } = upsert
  return { ...plan, action, because, changes, warnings: [...upsert.warnings, ...warnings] }
}

/** What a poll of the event subscriptions finds. */
export type SubscriptionFinding =
  /** Without `differences` the event subscriptions are as the metadata ask. */
  | { readonly kind: 'found'; readonly differences?: Differences | undefined }
  /** Not `certain` where the client may not read the list that would confirm it. */
  | { readonly kind: 'missing'; readonly certain: boolean }

/**
 * Reads the event subscriptions once, and compares all that the metadata set. Rejects where ARM does not answer.
 *
 * @param detail `plain`: by GET alone. `whole`: what ARM hides too, as far as the client may read it
 */
export async function inspectSubscriptions(
  { arm, wanted, onFound }: ProvisionTarget,
  signal: AbortSignal,
  detail: Detail,
): Promise<SubscriptionFinding> {
  const limits = { signal, deadline: Number.POSITIVE_INFINITY }
  const found: FoundSubscription[] = []
  for (const subscription of wanted) {
    const look = await lookAsPermitted(arm, subscription, limits, detail)
    // A missing event subscription counts more than a difference in the one before.
    if (look.kind === 'missing') return look
    onFound?.(look.properties)
    found.push({ wanted: subscription, existing: look.properties })
  }
  return { kind: 'found', differences: differencesOf(found) }
}

/** An event subscription as it was read. Hidden values count as wanted. */
interface FoundSubscription {
  readonly wanted: WantedSubscription
  readonly existing: SubscriptionProperties
}

/** `undefined` where the event subscriptions are as the metadata ask. */
function differencesOf(found: readonly FoundSubscription[]): Differences | undefined {
  const problems = found.flatMap(({ existing, wanted }) => differenceOf(existing, wanted) ?? [])
  if (problems.length === 0) return undefined
  return {
    problem: problems.join('; '),
    lacksCredential: found.some(
      ({ existing, wanted }) => isDelivering(existing, wanted) && wanted.lacksCredential(existing),
    ),
    isDown: found.some(({ existing }) => isStopped(existing)),
    isAway: found.some(({ existing, wanted }) => deliversElsewhere(existing, wanted)),
  }
}

/** Whether the event subscription delivers nothing, and nobody is changing it. */
const isStopped = (existing: SubscriptionProperties) => !isActive(existing) && !isChanging(existing)

const deliversElsewhere = (existing: SubscriptionProperties, wanted: WantedSubscription) =>
  isProvisioned(existing) && wanted.awayFrom(existing) !== undefined

/** Hidden values that may not be read count as wanted. */
async function lookAsPermitted(
  arm: Arm,
  subscription: WantedSubscription,
  limits: CallLimits,
  detail: Detail,
): Promise<LookedUp> {
  const ask = (asked: Detail) => lookUp(arm, subscription.place, limits, asked)
  const { found, isPlain } = detail === 'whole' ? await asPermitted(ask) : { found: await ask(detail), isPlain: true }
  if (found.kind === 'missing' || !isPlain) return found
  return { kind: 'found', properties: subscription.assumeHidden(found.properties) }
}

/** Why the event subscription delivers nothing here, as a clause; `undefined` where it delivers, and while somebody changes it. */
function whyNotDelivering(existing: SubscriptionProperties, wanted: WantedSubscription): string | undefined {
  if (isChanging(existing)) return undefined
  const { provisioningState: state = 'Succeeded' } = existing
  if (state === 'Succeeded') return wanted.awayFrom(existing)
  const then = state === 'Failed' && webHookOf(existing) ? `: ${untilHandshake}` : ''
  return `its provisioning state is ${state}${then}`
}

function differenceOf(existing: SubscriptionProperties, wanted: WantedSubscription): string | undefined {
  const why = whyNotDelivering(existing, wanted)
  if (why !== undefined) return why
  // A setting that goes back to its default may be shown in words.
  const upsert = decideUpsert(existing, wanted, 'ignore')
  return 'because' in upsert ? upsert.because : undefined
}

const notThere = ({ place }: WantedSubscription) =>
  new ArmFailureError({
    kind: 'missing',
    message: `the event subscription ${place.name} of ${place.sourceId} does not exist, and provisioning is check`,
    fix: 'create it, by eventgrid-binding provision for instance, or set provisioning to manage',
  })
