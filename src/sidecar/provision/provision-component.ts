/** The event subscriptions of one component: planned or written, and what became of it. */
import { type PlannedSubscription, planProvision, provisionOnce } from '../../binding/upkeep/provision-once.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import { silentLogger } from '../../core/logger.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/attempts.ts'

/** What became of one component. Holds no secret. */
export interface ProvisionOutcome {
  /** What would be written; with `dryRun` alone. */
  readonly subscriptions?: readonly PlannedSubscription[]
  /** What was done; `passedOver`: the component only publishes. Absent after an error and with `dryRun`. */
  readonly action?: UpsertOutcome['action'] | 'passedOver'
  /** That it was written though the endpoint could not be asked first. */
  readonly warning?: string
  readonly error?: Pick<BindingError, 'code' | 'what' | 'fix'>
}

export interface ProvisionComponentOptions {
  readonly dryRun: boolean
  /** In place of `subscriptionTimeout`, in ms. */
  readonly waitMs: number | undefined
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
  readonly onAttempt: (failed: FailedAttempt) => void
}

/** Plans or writes them. Resolves with a BindingError as well: the other components are not concerned. */
export async function provisionComponent(
  metadata: ParsedMetadata,
  { dryRun, waitMs, endpoints, signal, onAttempt }: ProvisionComponentOptions,
): Promise<ProvisionOutcome> {
  const wait = waitMs === undefined ? {} : { subscriptionTimeoutMs: waitMs }
  const input = metadata.input && { ...metadata.input, ...wait }
  const pull = metadata.pull && { ...metadata.pull, ...wait }
  if (!input && !pull) return dryRun ? { subscriptions: [] } : { action: 'passedOver' }
  const how = { endpoints, hostCredential: undefined, logger: silentLogger, signal, onAttempt }
  try {
    if (dryRun) return { subscriptions: await planProvision({ input, pull }, how) }
    const { action, unreached: warning } = await provisionOnce({ input, pull }, how)
    return { action, ...(warning !== undefined && { warning }) }
  } catch (error) {
    if (!(error instanceof BindingError)) throw error
    const { code, what, fix } = error
    return { error: { code, what, ...(fix !== undefined && { fix }) } }
  }
}
