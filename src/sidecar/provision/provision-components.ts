/** The event subscriptions of components, one component after another: planned or written, and what became of each. */
import { type PlannedSubscription, planProvision, provisionOnce } from '../../binding/upkeep/provision-once.ts'
import type { Endpoints } from '../../core/endpoints.ts'
import { BindingError } from '../../core/errors.ts'
import { silentLogger } from '../../core/logger.ts'
import type { ParsedMetadata } from '../../metadata/typed/metadata.ts'
import type { FailedAttempt, UpsertOutcome } from '../../provision/upsert/provision-target.ts'

export interface ProvisionedComponent {
  readonly name: string
  readonly file: string
  readonly metadata: ParsedMetadata
}

/** What became of one component. Holds no secret. */
export interface ProvisionOutcome extends Pick<ProvisionedComponent, 'name' | 'file'> {
  /** What would be written; with `dryRun` alone. */
  readonly subscriptions?: readonly PlannedSubscription[]
  /** What was done; `passedOver`: the component only publishes. Absent after an error and with `dryRun`. */
  readonly action?: UpsertOutcome['action'] | 'passedOver'
  /** That it was written though the endpoint could not be asked first. */
  readonly warning?: string
  readonly error?: Pick<BindingError, 'code' | 'what' | 'fix'>
}

export interface ProvisionComponentsOptions {
  readonly components: readonly ProvisionedComponent[]
  readonly dryRun: boolean
  /** In place of `subscriptionTimeout`, in ms. */
  readonly waitMs: number | undefined
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
  readonly onStart: (component: ProvisionedComponent) => void
  readonly onAttempt: (failed: FailedAttempt) => void
  readonly onEnd: (outcome: ProvisionOutcome) => void
}

/** Goes on after a component that failed. Resolves with the outcomes, in the order of the components. */
export async function provisionComponents(options: ProvisionComponentsOptions): Promise<readonly ProvisionOutcome[]> {
  const outcomes: ProvisionOutcome[] = []
  for (const component of options.components) {
    options.onStart(component)
    const { name, file } = component
    const outcome = { name, file, ...(await provisionOne(component, options)) }
    options.onEnd(outcome)
    outcomes.push(outcome)
  }
  return outcomes
}

async function provisionOne(
  { metadata }: ProvisionedComponent,
  { dryRun, waitMs, endpoints, signal, onAttempt }: ProvisionComponentsOptions,
): Promise<Omit<ProvisionOutcome, 'name' | 'file'>> {
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
