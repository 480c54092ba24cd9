/** Whether a delivery comes by settings that an `update` has replaced. Such deliveries are still taken. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Logger } from '../core/logger.ts'
import { isSameMetadata, type PushMetadata } from '../metadata/typed/metadata.ts'
import { type CheckCredential, type CheckCredentialOptions, createCredentialCheck, settlingMs } from './admission.ts'
import type { Evidence } from './log-events.ts'
import { soleValue } from './request.ts'

export interface FormerDeliveriesOptions extends CheckCredentialOptions {
  /** The metadata of the input sides that updates have replaced. */
  readonly formers: readonly PushMetadata[]
  /** When the event subscription was first known to carry the present credential, by `elapsed`. `undefined` while that is not known. */
  readonly credentialReadAt: () => number | undefined
  readonly logger: Logger
}

/** One warning of each former event subscription in this time. */
const warningMs = 60_000

/** More than anybody changes in the life of a process; the oldest go. */
const maxFormers = 100

/**
 * Former settings of the same event subscription are accepted until ten minutes after a read has found the present credential in it. With
 * `provisioning: check` or `none` they are accepted until the process ends. A former event subscription, which has another name or scope,
 * is accepted until the process ends too: it stays in Azure, and delivers here until somebody deletes it. A delivery has to name the event
 * subscription that its credential belongs to.
 */
export async function createFormerDeliveries(options: FormerDeliveriesOptions) {
  const { input: present, logger, clock, credentialReadAt } = options
  const all = await Promise.all(
    options.formers
      .filter((former) => !isSameMetadata(accessOf(former), accessOf(present)))
      .slice(0, maxFormers)
      .map(async (input) => ({
        input,
        name: input.eventSubscriptionName.toLowerCase(),
        isOther: !isSamePlace(input, present),
        check: await createFormerCheck(input, options),
        warnedAt: Number.NEGATIVE_INFINITY,
      })),
  )
  const presentName = present.eventSubscriptionName.toLowerCase()

  function isAccepted({ isOther }: (typeof all)[number]): boolean {
    if (isOther || present.provisioning !== 'manage') return true
    const readAt = credentialReadAt()
    return readAt === undefined || clock.elapsed() - readAt < settlingMs
  }

  /** The former settings whose event subscription a delivery names. */
  function namedBy(headers: IncomingHttpHeaders): typeof all {
    const name = soleValue(headers['aeg-subscription-name'])?.toLowerCase()
    return all.filter((former) => former.name === name && isAccepted(former))
  }

  function warn(former: (typeof all)[number]): void {
    if (clock.elapsed() - former.warnedAt < warningMs) return
    former.warnedAt = clock.elapsed()
    const { eventSubscriptionName: eventSubscription, scope } = former.input
    logger.warn(
      'a former event subscription still delivers: its events are taken until this process ends, and where its filters are those of the ' +
        'present one, each event is handled twice; delete it',
      { eventSubscription, scope: scope.id },
    )
  }

  /** Checks by the present credential. Where that one does not fit, checks by the former credentials. */
  async function judge(check: CheckCredential, headers: IncomingHttpHeaders, formers: typeof all): Promise<Evidence> {
    const evidence = await check(headers)
    if (evidence.kind === 'proven') {
      // A delivery whose present credential fits may still come from a former event subscription.
      const renamed = formers.find(({ name }) => name !== presentName)
      if (renamed) warn(renamed)
      return evidence
    }
    for (const former of formers) {
      const proof = await former.check(headers)
      if (proof.kind !== 'proven') continue
      if (!former.isOther) return proof
      warn(former)
      return { kind: 'proven', isFormer: true }
    }
    return evidence
  }

  return {
    /** The former metadata by which deliveries are still accepted. */
    inputs: (): readonly PushMetadata[] => all.filter(isAccepted).map(({ input }) => input),
    /** Does a delivery name an event subscription of another name that is still accepted? */
    areNamedBy: (headers: IncomingHttpHeaders): boolean => namedBy(headers).some(({ name }) => name !== presentName),
    /** A check by the present credential, and then by the former credentials. */
    withPresent(check: CheckCredential): CheckCredential {
      // In most processes nothing was replaced.
      if (all.length === 0) return check
      return (headers) => {
        const formers = namedBy(headers)
        return formers.length === 0 ? check(headers) : judge(check, headers, formers)
      }
    },
  }
}

/** `none` has no credential: a delivery without one proves nothing where the present settings ask for one. */
const createFormerCheck = async (input: PushMetadata, options: CheckCredentialOptions): Promise<CheckCredential> =>
  input.deliveryAuthentication.kind === 'none'
    ? () => ({ kind: 'absent' })
    : createCredentialCheck({ ...options, input })

/** Are they the same event subscription? */
export const isSamePlace = (one: PushMetadata, other: PushMetadata): boolean =>
  isSameMetadata(placeOf(one), placeOf(other))

/** Name and scope say which event subscription is meant. Azure compares both without case. */
const placeOf = ({ eventSubscriptionName, scope }: PushMetadata) =>
  [eventSubscriptionName, scope.id].map((id) => id.toLowerCase())

/** All that decides whether a delivery is accepted. */
const accessOf = (input: PushMetadata) => [
  placeOf(input),
  input.deliveryAuthentication,
  input.environment,
  input.subscriberEndpoint,
]
