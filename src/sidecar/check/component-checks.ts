// Which checks a component gets, for push, pull and output, and their dependencies.
import type { FieldName } from '../../metadata/fields/find-field.ts'
import { isLoopback } from '../../support/net/loopback.ts'
import { credentialCheck } from './checks/azure/check-azure-credential.ts'
import { permissionCheck } from './checks/azure/check-permission.ts'
import { providerCheck } from './checks/azure/check-provider.ts'
import { scopeCheck } from './checks/azure/check-scope.ts'
import { subscriptionCheck } from './checks/azure/check-subscription.ts'
import { certificateCheck } from './checks/check-certificate.ts'
import { clockCheck } from './checks/check-clock.ts'
import { connectCheck } from './checks/check-connect.ts'
import { dnsCheck } from './checks/check-dns.ts'
import { handshakeCheck, pathCheck } from './checks/check-endpoint.ts'
import { eventCheck, type SampleEvent } from './checks/check-event.ts'
import { portCheck } from './checks/check-port.ts'
import { pullReceiveCheck, pullSettleCheck } from './checks/check-pull.ts'
import { pullSubscriptionCheck } from './checks/check-pull-subscription.ts'
import { roundTripCheck } from './checks/check-round-trip.ts'
import { sidecarCheck } from './checks/check-sidecar.ts'
import { topicCredentialCheck } from './checks/check-topic.ts'
import type { CheckedComponent } from './load-checked.ts'
import { type CheckId, checkIds } from './report/check-ids.ts'
import { failed, skipped } from './report/finding.ts'
import type { Check } from './run-checks.ts'
import { createPullWorld, type PullWorld } from './world/pull-world.ts'
import {
  createInputWorld,
  createOutputWorld,
  type InputWorld,
  type OutputWorld,
  type Surroundings,
} from './world/world.ts'

export interface ComponentChecksOptions {
  readonly component: CheckedComponent
  readonly surroundings: Surroundings
  readonly signal: AbortSignal
  readonly portTakenBy: string | undefined
  readonly samples: readonly SampleEvent[]
  readonly roundTrip: boolean
}

/** The checks of one component, in the order of their ids. `close` frees the port. */
export function componentChecks(options: ComponentChecksOptions) {
  const { component, surroundings, signal } = options
  const { input, pull, output } = component.metadata ?? {}
  const inputWorld = input && createInputWorld(input, surroundings, signal)
  const pullWorld = pull && createPullWorld(pull, surroundings, signal)
  const outputWorld = output && createOutputWorld(output, surroundings)
  const worlds = [inputWorld, pullWorld, outputWorld].filter((world) => world !== undefined)
  const clockSource = worlds.map((world) => world.clockSource).find((source) => source !== undefined)
  const isUnmanaged = (input ?? pull)?.provisioning === 'none'
  const wanted = worlds.flatMap(({ wantedTokens }) => wantedTokens)
  const checks: Check[] = [
    ...fileChecks(component),
    ...(inputWorld ? inputChecks(inputWorld, options) : []),
    ...(pullWorld ? pullChecks(pullWorld, options) : []),
    ...(outputWorld ? outputChecks(outputWorld) : []),
    ...(surroundings.sidecar && component.metadata ? [sidecarCheck(surroundings.sidecar, component)] : []),
    ...(clockSource ? [clockCheck(clockSource, surroundings.endpoints)] : []),
    ...(component.metadata ? [] : outOfReach(component)),
    ...(wanted.length > 0 ? [credentialCheck(wanted)] : isUnmanaged ? [unasked('azure/credential')] : []),
    ...(inputWorld && outputWorld && options.roundTrip ? [roundTripCheck(inputWorld, outputWorld)] : []),
  ]
  return {
    checks: checks.sort((one, other) => checkIds.indexOf(one.id) - checkIds.indexOf(other.id)),
    close: async () => void (await Promise.all([inputWorld?.close(), pullWorld?.close()])),
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
function outOfReach({ sides }: CheckedComponent): readonly Check[] {
  const ids = checkIds.filter(
    (id) =>
      ((id === 'machine/clock' || id === 'machine/sidecar') && sides.size > 0) ||
      (sides.has('input') && /^(machine|endpoint|azure)\//.test(id)) ||
      (sides.has('output') && id.startsWith('topic/')),
  )
  const needs = ['files/yaml', 'files/metadata', 'files/secrets', 'files/names'] as const
  return ids.map((id) => ({ id, needs, run: () => failed('the component is not valid') }))
}

function inputChecks(
  world: InputWorld,
  { portTakenBy, samples, surroundings }: ComponentChecksOptions,
): readonly Check[] {
  const { route } = world
  const url = new URL(world.input.subscriberEndpoint)
  const place = { url, ...placeOf(surroundings), route }
  const atAzure = [
    providerCheck(world, placeOf(surroundings)),
    { ...scopeCheck([world]), field: 'scope' as const },
    permissionCheck([world]),
    subscriptionCheck(world),
  ]
  return [
    { ...portCheck(world, portTakenBy), field: 'handshakePort' },
    ...about('subscriberEndpoint', [
      dnsCheck({ id: 'endpoint/dns', field: 'subscriberEndpoint', ...place, unused: unusedEmulator(surroundings) }),
      connectCheck(world),
      certificateCheck({ id: 'endpoint/certificate', needs: ['endpoint/connect'], ...place }),
      handshakeCheck(world),
      pathCheck(world),
    ]),
    ...(world.input.provisioning === 'none' ? atAzure.map(({ id }) => unasked(id)) : atAzure),
    ...(samples.length > 0 ? [eventCheck(world, samples)] : []),
  ]
}

const about = (field: FieldName, checks: readonly Check[]) => checks.map((check) => ({ ...check, field }))

/** An emulator that the environment names in the place of Azure, without `--emulator`. */
function unusedEmulator({ emulator, endpoints: { resourceManager = '' } }: Surroundings): string | undefined {
  const host = URL.parse(resourceManager)?.hostname ?? ''
  return emulator === undefined && isLoopback(host) ? resourceManager : undefined
}

const placeIds = ['azure/provider', 'azure/scope', 'azure/permission', 'azure/subscription'] as const

/** Reported in place of a check that `provisioning: none` rules out. */
const unasked = (id: CheckId): Check => ({
  id,
  needs: [],
  run: () => skipped('provisioning is none: Resource Manager is not asked'),
})

/** What the checks of a host name need to know of the place where it is asked for. */
const placeOf = ({ emulator, endpoints: { ca } }: Surroundings) => ({ ca, byEmulator: emulator !== undefined })

function pullChecks(world: PullWorld, { surroundings }: ComponentChecksOptions): readonly Check[] {
  const { places } = world
  const [first] = places
  const unmanaged = world.pull.provisioning === 'none' ? placeIds.map(unasked) : []
  const atAzure = first
    ? [
        providerCheck(first, placeOf(surroundings)),
        scopeCheck(places),
        permissionCheck(places),
        pullSubscriptionCheck(places),
      ]
    : unmanaged
  return [...atAzure, pullReceiveCheck(world), pullSettleCheck(world)]
}

function outputChecks(world: OutputWorld): readonly Check[] {
  const { route, output, surroundings } = world
  const url = new URL(output.topicEndpoint)
  const place = { url, ...placeOf(surroundings), route }
  return [
    ...about('topicEndpoint', [
      dnsCheck({ id: 'topic/dns', field: 'topicEndpoint', ...place }),
      certificateCheck({ id: 'topic/certificate', needs: ['topic/dns'], ...place }),
    ]),
    topicCredentialCheck(world),
  ]
}
