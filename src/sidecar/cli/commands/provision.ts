/** The command `provision` prints the plan as lines of fields, or carries it out once. */
import {
  deliveryTokenAttribute,
  type FieldChange,
  type PlannedSubscription,
} from '../../../binding/upkeep/provision-once.ts'
import { inWords } from '../../../core/errors.ts'
import { flag, optionLines, parseOptions, text } from '../../../support/command-line/parse-options.ts'
import { awaitEnd } from '../../../support/command-line/signals.ts'
import type { Terminal } from '../../../support/command-line/terminal.ts'
import { UsageError, wrongOption } from '../../../support/command-line/usage-error.ts'
import { durationWords } from '../../../support/time/duration-words.ts'
import { type ProvisionOutcome, provisionComponents } from '../../provision/provision-components.ts'
import {
  chosenOptions,
  readChosenOptions,
  type UsableComponent,
  usableComponents,
} from '../options/checked-components.ts'
import { readDuration } from '../options/duration-option.ts'
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
  const options = readOptions(args)
  const { emulator, dryRun, json, waitMs } = options
  if (options.showToken) return showToken(await usableComponents(options), options, terminal)
  const components = await usableComponents(options, { provisioning: 'manage' })
  const endpoints = await endpointsOf(emulator)
  try {
    const outcomes = await provisionComponents({
      components,
      dryRun,
      waitMs,
      endpoints,
      signal,
      onStart({ name, file }) {
        if (json) return
        terminal.parts([
          { text: name, tone: 'plain' },
          { text: `  ${file}`, tone: 'faint' },
        ])
        terminal.update(`${name} …`)
      },
      onAttempt({ error, retryInMs }) {
        if (json || retryInMs === undefined) return
        terminal.line(`  ${inWords(error)}`)
        terminal.line(`  the next try is in ${durationWords(retryInMs)}`)
      },
      onEnd: (outcome) => json || showOutcome(outcome, terminal),
    })
    terminal.finish()
    const code = exitCode(outcomes)
    if (json) terminal.data(JSON.stringify({ version: 1, ok: code === 0, components: outcomes }))
    return code
  } finally {
    terminal.finish()
  }
}

type ProvisionCommandOptions = ReturnType<typeof readOptions>

function readOptions(args: readonly string[]) {
  const values = parseOptions(withEmulatorUrl(args), known)
  const { 'dry-run': dryRun = false, 'show-token': showToken = false, json = false } = values
  if (showToken && values.component === undefined) throw wrongOption('--show-token needs --component')
  if (showToken && dryRun) throw wrongOption('--show-token writes nothing: leave --dry-run out')
  return {
    ...readChosenOptions(values),
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

function showToken([one]: readonly UsableComponent[], { json }: ProvisionCommandOptions, terminal: Terminal): number {
  const attribute = one?.metadata.input && deliveryTokenAttribute(one.metadata.input)
  if (!attribute) {
    const why = 'a component has one where events are pushed to it and deliveryAuthentication is secret'
    throw new UsageError(`component ${JSON.stringify(one?.name)} has no delivery token: ${why}`)
  }
  const { name } = attribute
  const value = attribute.value.reveal()
  for (const line of json ? [JSON.stringify({ name, value })] : [name, value]) terminal.data(line)
  return 0
}

const actionWords: Readonly<Record<NonNullable<ProvisionOutcome['action']>, string>> = {
  created: 'the event subscription is created',
  patched: 'the event subscription is updated',
  replaced: 'the event subscription is replaced',
  kept: 'the event subscription is as it should be',
  notPermitted: 'the event subscription may not be read or written by this client',
  passedOver: 'skipped: it only publishes',
}

function showOutcome({ subscriptions, action, warning, error }: ProvisionOutcome, terminal: Terminal): void {
  if (error) {
    terminal.parts([
      { text: '  ✗ ', tone: 'bad' },
      { text: `${error.code}: ${error.what}`, tone: 'plain' },
    ])
    for (const line of error.fix?.split('\n') ?? []) terminal.line(`    ${line}`)
  }
  if (action) {
    const isBad = action === 'notPermitted'
    terminal.parts([
      { text: isBad ? '  ✗ ' : '  ✓ ', tone: isBad ? 'bad' : 'good' },
      { text: actionWords[action], tone: 'plain' },
    ])
  }
  if (warning !== undefined) terminal.parts([{ text: `    ! ${warning}`, tone: 'warning' }])
  for (const planned of subscriptions ?? []) showPlan(planned, terminal)
  if (subscriptions?.length === 0) terminal.line(`  ${actionWords.passedOver}`)
}

const planWords: Readonly<Record<PlannedSubscription['action'], string>> = {
  create: 'would be created',
  keep: 'is as it should be',
  patch: 'would be updated',
  replace: 'would be replaced',
  wait: 'is being changed by somebody: run it again',
  refuse: 'must not be written',
}

function showPlan(
  { id, action, because, fix, changes, stays, warnings }: PlannedSubscription,
  terminal: Terminal,
): void {
  const isBad = action === 'refuse' || action === 'wait'
  terminal.parts([
    {
      text: `  ${action === 'keep' ? '✓' : isBad ? '✗' : '~'} `,
      tone: action === 'keep' ? 'good' : isBad ? 'bad' : 'warning',
    },
    { text: `${id} ${planWords[action]}${because === undefined ? '' : `: ${because}`}`, tone: 'plain' },
  ])
  for (const change of changes) terminal.parts(changeParts(change))
  for (const { field, value } of stays) {
    const text = `    = ${field}: ${JSON.stringify(value)} stays: no field of the component sets it`
    terminal.parts([{ text, tone: 'faint' }])
  }
  for (const text of warnings) terminal.parts([{ text: `    ! ${text}`, tone: 'warning' }])
  if (fix !== undefined) for (const line of fix.split('\n')) terminal.line(`    ${line}`)
}

function changeParts({ field, before, after }: FieldChange) {
  const [was, is] = [before, after].map((value) => (value === undefined ? undefined : JSON.stringify(value)))
  if (was === undefined) return [{ text: `    + ${field}: ${is}`, tone: 'good' as const }]
  if (is === undefined) return [{ text: `    - ${field}: ${was}`, tone: 'bad' as const }]
  return [{ text: `    ~ ${field}: ${was} → ${is}`, tone: 'warning' as const }]
}
