/** The command `provision` prints the plan as lines of fields, or carries it out once. */

import { deliveryTokenHeader, ownDeliveryCredential } from '../../../core/delivery-credential.ts'
import type { Endpoints } from '../../../core/endpoints.ts'
import { BindingError, inWords } from '../../../core/errors.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { ParsedMetadata } from '../../../metadata/typed/metadata.ts'
import type { FailedAttempt } from '../../../provision/attempts.ts'
import type { FieldChange } from '../../../provision/decide.ts'
import type { PlannedSubscription } from '../../../provision/look.ts'
import type { UpsertOutcome } from '../../../provision/upsert.ts'
import {
  flag,
  optionLines,
  parseOptions,
  text,
  UsageError,
  wrongOption,
} from '../../../support/command-line/options.ts'
import { awaitEnd } from '../../../support/command-line/run-command.ts'
import type { LinePart, Terminal } from '../../../support/command-line/terminal.ts'
import { durationWords } from '../../../support/time/clock.ts'
import { type UsableComponent, usableComponents } from '../options/checked-components.ts'
import { chosenOptions, readComponentOptions, readDuration } from '../options/component-options.ts'
import { emulatorOptions, endpointsOf, readEmulatorOptions, withEmulatorUrl } from '../options/emulator-option.ts'

const known = {
  ...chosenOptions,
  ...emulatorOptions,
  'dry-run': flag('write nothing, and show field by field what would be written, secrets masked'),
  wait: text('DURATION', 'try for this time, such as 10m (default: subscriptionTimeout of the component)'),
  'show-token': flag(
    'print the name and the value of the delivery attribute that the event subscription of --component NAME must ' +
      'carry, without a request. The value is a secret',
  ),
  json: flag('the result as JSON'),
}

export const help = `Usage: eventgrid-binding provision [options]

Creates or updates the event subscriptions of components once, as init does, and
ends. Use it in a pipeline or a Job: then the replicas need no right to write.
Meanwhile the public endpoint must answer the handshake. A component with
provisioning: none needs its credential fields for this. A component that only
publishes is skipped.

Options:
${optionLines(22, known)}

Exit codes: 0 all is as it should be (with --dry-run: nothing would be written),
1 a failure, 2 wrong usage or configuration, 3 with --dry-run: something would
be written.
Environment: AZURE_RESOURCE_MANAGER_URL, AZURE_AUTHORITY_HOST and
NODE_EXTRA_CA_CERTS, as for run and serve.
`

/** Resolves with the exit code. Throws a UsageError for wrong options and for a component that is not valid. */
export async function run(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal = awaitEnd().stopping,
): Promise<number> {
  const { emulator, json, ...options } = readOptions(args)
  if (options.showToken) return showToken(await usableComponents(options), json, terminal)
  const components = await usableComponents(options, { provisioning: 'manage' })
  const endpoints = await endpointsOf(emulator)
  const onAttempt = ({ error, retryInMs }: FailedAttempt) => {
    if (json || retryInMs === undefined) return
    terminal.line(`  ${inWords(error)}`)
    terminal.line(`  the next try is in ${durationWords(retryInMs)}`)
  }
  const outcomes = []
  try {
    for (const { name, file, metadata } of components) {
      if (!json) {
        terminal.parts([{ text: name }, { text: `  ${file}`, tone: 'faint' }])
        terminal.update(`${name} …`)
      }
      const outcome = await provisionComponent(metadata, { ...options, endpoints, signal, onAttempt })
      if (!json) showOutcome(outcome, terminal)
      outcomes.push({ name, file, ...outcome })
    }
  } finally {
    terminal.finish()
  }
  const code = exitCode(outcomes)
  if (json) terminal.data(JSON.stringify({ version: 1, ok: code === 0, components: outcomes }))
  return code
}

function readOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { 'dry-run': dryRun = false, 'show-token': showToken = false, json = false } = values
  if (showToken && values.component === undefined) throw wrongOption('--show-token needs --component')
  if (showToken && dryRun) throw wrongOption('--show-token writes nothing: leave --dry-run out')
  return {
    ...readComponentOptions(values),
    dryRun,
    showToken,
    json,
    emulator: readEmulatorOptions(values),
    /** `undefined`: `subscriptionTimeout` of each component. */
    waitMs: readDuration('wait', values.wait),
  }
}

function exitCode(outcomes: readonly ProvisionOutcome[]): 0 | 1 | 2 | 3 {
  const actions = outcomes.flatMap(({ subscriptions = [] }) => subscriptions.map(({ action }) => action))
  if (outcomes.some(({ error }) => error?.code === 'METADATA_INVALID')) return 2
  const hasFailed = outcomes.some(({ error, action }) => error !== undefined || action === 'notPermitted')
  if (hasFailed || actions.includes('refuse') || actions.includes('wait')) return 1
  return actions.every((action) => action === 'keep') ? 0 : 3
}

function showToken([one]: readonly UsableComponent[], json: boolean, terminal: Terminal): number {
  const value = one?.metadata.push && ownDeliveryCredential(one.metadata.push)?.reveal()
  if (value === undefined) {
    const why = 'a component has one where events are pushed to it and deliveryAuthentication is secret'
    throw new UsageError(`component ${JSON.stringify(one?.name)} has no delivery token: ${why}`)
  }
  const name = deliveryTokenHeader
  for (const line of json ? [JSON.stringify({ name, value })] : [name, value]) terminal.data(line)
  return 0
}

const good = { text: '  ✓ ', tone: 'good' } as const
const bad = { text: '  ✗ ', tone: 'bad' } as const
const change = { text: '  ~ ', tone: 'warning' } as const

const actionWords: Readonly<Record<NonNullable<ProvisionOutcome['action']>, string>> = {
  created: 'the event subscription is created',
  patched: 'the event subscription is updated',
  replaced: 'the event subscription is replaced',
  kept: 'the event subscription is as it should be',
  notPermitted: 'the event subscription may not be read or written by this client',
  passedOver: 'skipped: it only publishes',
}

function showOutcome({ subscriptions, action, warnings = [], error }: ProvisionOutcome, terminal: Terminal): void {
  if (error) {
    terminal.parts([bad, { text: `${error.code}: ${error.what}` }])
    showFix(error.fix, terminal)
  }
  if (action) terminal.parts([action === 'notPermitted' ? bad : good, { text: actionWords[action] }])
  showWarnings(warnings, terminal)
  for (const planned of subscriptions ?? []) showPlan(planned, terminal)
  if (subscriptions?.length === 0) terminal.line(`  ${actionWords.passedOver}`)
}

const planWords: Readonly<Record<PlannedSubscription['action'], readonly [sign: LinePart, words: string]>> = {
  create: [change, 'would be created'],
  keep: [good, 'is as it should be'],
  patch: [change, 'would be updated'],
  replace: [change, 'would be replaced'],
  wait: [bad, 'is being changed by somebody: run it again'],
  refuse: [bad, 'must not be written'],
}

function showPlan(plan: PlannedSubscription, terminal: Terminal): void {
  const { id, action, because, fix, changes, warnings } = plan
  const [sign, words] = planWords[action]
  terminal.parts([sign, { text: `${id} ${words}${because === undefined ? '' : `: ${because}`}` }])
  for (const one of changes) terminal.parts([changePart(one)])
  showWarnings(warnings, terminal)
  showFix(fix, terminal)
}

function showWarnings(warnings: readonly string[], terminal: Terminal): void {
  for (const text of warnings) terminal.parts([{ text: `    ! ${text}`, tone: 'warning' }])
}

function showFix(fix: string | undefined, terminal: Terminal): void {
  for (const line of fix?.split('\n') ?? []) terminal.line(`    ${line}`)
}

function changePart({ field, before, after }: FieldChange): LinePart {
  if (before === undefined) return { text: `    + ${field}: ${JSON.stringify(after)}`, tone: 'good' }
  if (after === undefined) return { text: `    - ${field}: ${JSON.stringify(before)}`, tone: 'bad' }
  return { text: `    ~ ${field}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`, tone: 'warning' }
}

/** What became of one component. Holds no secret. */
interface ProvisionOutcome {
  /** What would be written; with `dryRun` only. */
  readonly subscriptions?: readonly PlannedSubscription[]
  /** What was done; `passedOver`: the component only publishes. Absent after an error and with `dryRun`. */
  readonly action?: UpsertOutcome['action'] | 'passedOver'
  /** One sentence for each setting of others that was replaced, and for what could not be checked. */
  readonly warnings?: readonly string[]
  readonly error?: Pick<BindingError, 'code' | 'what' | 'fix'>
}

interface ProvisionComponentOptions {
  readonly dryRun: boolean
  /** In place of `subscriptionTimeout`, in ms. */
  readonly waitMs: number | undefined
  readonly endpoints: Endpoints
  readonly signal: AbortSignal
  readonly onAttempt: (failed: FailedAttempt) => void
}

/** Plans or writes the event subscriptions of a component. Resolves with a BindingError too: the other components are not concerned. */
async function provisionComponent(
  metadata: ParsedMetadata,
  { dryRun, waitMs, endpoints, signal, onAttempt }: ProvisionComponentOptions,
): Promise<ProvisionOutcome> {
  const wait = waitMs === undefined ? {} : { subscriptionTimeoutMs: waitMs }
  const push = metadata.push && { ...metadata.push, ...wait }
  const pull = metadata.pull && { ...metadata.pull, ...wait }
  const connection = { endpoints, hostCredential: undefined, logger: silentLogger }
  try {
    const { connectNamespace, connectSubscription } = await import('../../../binding/upkeep/subscription-control.ts')
    const control = push
      ? connectSubscription({ ...connection, input: push })
      : pull && connectNamespace(pull, connection)
    if (!control) return dryRun ? { subscriptions: [] } : { action: 'passedOver' }
    const task = { patience: 'timeout', signal, onAttempt } as const
    if (dryRun) return { subscriptions: await control.plan(task) }
    const { action, warnings } = await control.upsert(task)
    return { action, ...(warnings && { warnings }) }
  } catch (error) {
    if (!(error instanceof BindingError)) throw error
    const { code, what, fix } = error
    return { error: { code, what, ...(fix !== undefined && { fix }) } }
  }
}
