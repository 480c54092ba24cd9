/** Which checks a component gets, and which of them need others. */
import { showUrl } from '../../metadata/fields/addresses.ts'
import type { FieldName } from '../../metadata/fields/find-field.ts'
import type { PushMetadata } from '../../metadata/typed/metadata.ts'
import { askForTokens, checkProvider, checkRoles, checkScope } from './checks/check-azure.ts'
import { checkCertificates } from './checks/check-certificate.ts'
import { checkHandshake, checkPath } from './checks/check-endpoint.ts'
import { askSidecar, checkPort, compareClock } from './checks/check-machine.ts'
import { tryReceive, trySettle } from './checks/check-pull.ts'
import { checkConnections, checkName } from './checks/check-reach.ts'
import { checkEventSubscription, checkPullSubscription } from './checks/check-subscription.ts'
import { askTopic, tryRoundTrip } from './checks/check-topic.ts'
import type { AzureResource } from './context/azure-resource.ts'
import { createPullContext, type PullContext } from './context/pull-context.ts'
import {
  createInputContext,
  createOutputContext,
  type InputContext,
  type OutputContext,
  type Surroundings,
} from './context/side-context.ts'
import { type Finding, failed, joined, skipped } from './finding.ts'
import type { CheckedComponent } from './load-checked.ts'
import { type CheckId, checkIds } from './report.ts'
import type { Check } from './run-checks.ts'

export interface ComponentChecksOptions {
  readonly component: CheckedComponent
  readonly surroundings: Surroundings
  readonly signal: AbortSignal
  readonly portTakenBy: string | undefined
  readonly roundTrip: boolean
}

/** The checks of one component, in the order of their ids. `close` frees the port; the abort of the signal ends all else. */
export function componentChecks(options: ComponentChecksOptions) {
  const { component, surroundings, signal } = options
  const { push: input, pull, output } = component.metadata ?? {}
  const inputWorld = input && createInputContext(input, surroundings, signal)
  const pullWorld = pull && createPullContext(pull, surroundings, signal)
  const outputWorld = output && createOutputContext(output, surroundings, signal)
  const contexts = [inputWorld, pullWorld, outputWorld].filter((context) => context !== undefined)
  const clockSource = contexts.map((context) => context.clockSource).find((source) => source !== undefined)
  const wanted = contexts.flatMap(({ wantedTokens }) => wantedTokens)
  const checks: Check[] = [
    ...fileChecks(component),
    ...(inputWorld ? inputChecks(inputWorld, options) : []),
    ...(pullWorld ? pullChecks(pullWorld, options) : []),
    ...(outputWorld ? outputChecks(outputWorld) : []),
    ...(component.metadata ? [] : outOfReach(component)),
  ]
  const { sidecar } = surroundings
  if (sidecar && component.metadata) {
    checks.push({ id: 'machine/sidecar', needs: valid, run: (one) => askSidecar(sidecar, component, one) })
  }
  if (clockSource) {
    const run = (one: AbortSignal) => compareClock(clockSource, surroundings.endpoints, one)
    checks.push({ id: 'machine/clock', needs: valid, run })
  }
  if (wanted.length > 0) {
    checks.push({ id: 'azure/credential', needs: valid, run: (one) => askForTokens(wanted, one) })
  } else if ((input ?? pull)?.provisioning === 'none') checks.push(unasked('azure/credential'))
  if (inputWorld && outputWorld && options.roundTrip) {
    checks.push({
      id: 'round-trip/event',
      needs: ['endpoint/handshake', 'endpoint/path', 'azure/subscription', 'topic/credential'],
      limitMs: 60_000,
      run: (one) => tryRoundTrip(inputWorld, outputWorld, one),
    })
  }
  return {
    checks: checks.sort((one, other) => checkIds.indexOf(one.id) - checkIds.indexOf(other.id)),
    close: async () => inputWorld?.close(),
  }
}

/** The checks of the files. Reading the files has made their findings. */
function fileChecks({ files }: CheckedComponent): readonly Check[] {
  return (['yaml', 'metadata', 'secrets', 'names'] as const).flatMap((part) => {
    const finding = files[part]
    return finding ? [{ id: `files/${part}`, needs: part === 'yaml' ? [] : ['files/yaml'], run: () => finding }] : []
  })
}

/** Checks that an invalid component cannot have. They are skipped, and name the check of the files that failed. */
function outOfReach({ properties, sides }: CheckedComponent): readonly Check[] {
  const pulls = Object.entries(properties).some(
    ([name, value]) => name.toLowerCase() === 'deliverymode' && String(value).toLowerCase() === 'pull',
  )
  const ofInput = pulls ? /^(azure|pull)\// : /^(machine|endpoint|azure)\//
  const ids = checkIds.filter(
    (id) =>
      ((id === 'machine/clock' || id === 'machine/sidecar') && sides.length > 0) ||
      (sides.includes('input') && ofInput.test(id)) ||
      (sides.includes('output') && id.startsWith('topic/')),
  )
  return ids.map((id) => ({ id, needs: ['files/yaml', ...valid], run: () => failed('the component is not valid') }))
}

/** Without a fault of these a component is valid. */
const valid = ['files/metadata', 'files/secrets', 'files/names'] as const

function inputChecks(context: InputContext, options: ComponentChecksOptions): readonly Check[] {
  const { portTakenBy, surroundings } = options
  const field = 'subscriberEndpoint'
  const url = new URL(context.input.subscriberEndpoint)
  const host = { url, ...trustOf(surroundings), route: context.route }
  const direct = unlessThrough(context.proxy)
  const needs = ['machine/port', 'endpoint/connect', 'endpoint/certificate'] as const
  return [
    { id: 'machine/port', needs: valid, field: 'handshakePort', run: () => checkPort(context, portTakenBy) },
    { id: 'endpoint/dns', needs: valid, field, run: direct(() => checkName({ field, ...host })) },
    {
      id: 'endpoint/connect',
      needs: ['endpoint/dns'],
      field,
      run: direct((signal) => checkConnections(context, signal)),
    },
    {
      id: 'endpoint/certificate',
      needs: ['endpoint/connect'],
      field,
      run: direct((signal) => checkCertificates(host, signal)),
    },
    { id: 'endpoint/handshake', needs, field, run: () => checkHandshake(context) },
    { id: 'endpoint/path', needs, field, run: () => checkPath(context) },
    ...azureChecks(context.input.provisioning, [context], checkEventSubscription, surroundings, 'scope'),
  ]
}

/** The checks of what Resource Manager keeps; none where the component does not need Resource Manager. */
function azureChecks<Resource extends AzureResource>(
  provisioning: PushMetadata['provisioning'],
  resources: readonly Resource[],
  checkSubscription: (resource: Resource, signal: AbortSignal) => Promise<Finding>,
  surroundings: Surroundings,
  scopeField?: FieldName,
): readonly Check[] {
  if (provisioning === 'none') return resourceIds.map(unasked)
  const [first] = resources
  if (!first) return []
  const needs = ['azure/credential'] as const
  const ofAll = (check: typeof checkSubscription) => async (signal: AbortSignal) =>
    joined(await Promise.all(resources.map((resource) => check(resource, signal))))
  return [
    { id: 'azure/provider', needs, run: (signal) => checkProvider(first, trustOf(surroundings), signal) },
    { id: 'azure/scope', needs, ...(scopeField && { field: scopeField }), run: ofAll(checkScope) },
    { id: 'azure/permission', needs, run: ofAll(checkRoles) },
    {
      id: 'azure/subscription',
      needs: ['azure/provider', 'azure/scope', 'azure/permission'],
      run: ofAll(checkSubscription),
    },
  ]
}

const resourceIds = ['azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription'] as const

/** Reported in place of a check that `provisioning: none` rules out. */
const unasked = (id: CheckId): Check => ({
  id,
  needs: [],
  run: () => skipped('provisioning is none: Resource Manager is not asked'),
})

/** Behind a proxy names are looked up and hosts are connected to by the proxy. A network may allow nothing else. */
const unlessThrough =
  (proxy: URL | undefined) =>
  (run: Check['run']): Check['run'] =>
    proxy ? () => skipped(`asked through the proxy ${showUrl(proxy.href)}`) : run

/** For the checks of a host name: which authority is trusted, and whether an emulator answers. */
const trustOf = ({ emulator, endpoints: { ca } }: Surroundings) => ({ ca, byEmulator: emulator !== undefined })

function pullChecks(context: PullContext, { surroundings }: ComponentChecksOptions): readonly Check[] {
  const { pull, resources } = context
  const needs = pull.credential ? ([...valid, 'azure/credential'] as const) : valid
  return [
    ...azureChecks(pull.provisioning, resources, checkPullSubscription, surroundings),
    // Longer than an empty queue is waited for, in case 0 events count as a request.
    { id: 'pull/receive', needs, limitMs: 15_000, run: (signal) => tryReceive(context, signal) },
    { id: 'pull/settle', needs: ['pull/receive'], run: (signal) => trySettle(context, signal) },
  ]
}

function outputChecks(context: OutputContext): readonly Check[] {
  const { route, output, surroundings } = context
  const field = 'topicEndpoint'
  const host = { url: new URL(output.topicEndpoint), ...trustOf(surroundings), route }
  const direct = unlessThrough(context.proxy)
  const byToken = output.authentication.kind === 'entra'
  return [
    { id: 'topic/dns', needs: valid, field, run: direct(() => checkName({ field, ...host })) },
    { id: 'topic/certificate', needs: ['topic/dns'], field, run: direct((signal) => checkCertificates(host, signal)) },
    {
      id: 'topic/credential',
      needs: ['topic/certificate', ...(byToken ? (['azure/credential'] as const) : [])],
      run: (signal) => askTopic(context, signal),
    },
  ]
}
