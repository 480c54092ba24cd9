/** What the checks of push delivery share, and the checks of an output: each part is made at its first use. */

import { randomUUID } from 'node:crypto'
import { createCredential } from '../../../azure/credential.ts'
import { secureContextOf } from '../../../azure/http.ts'
import { proxyOfEndpoint } from '../../../azure/proxy.ts'
import type { RenewableCredential } from '../../../azure/token-keeper.ts'
import { type Endpoints, topicUrl } from '../../../core/endpoints.ts'
import type { OutputMetadata, PushMetadata } from '../../../metadata/typed/metadata.ts'
import { failureContext } from '../../../provision/failure-context.ts'
import { firstAnswer, type HandshakeRequest, optionsRequest, validationRequest } from '../../../provision/handshake.ts'
import { wantedWebHook } from '../../../provision/needs-webhook.ts'
import { bareHost, type Probe, type ProbeAnswer, probe, type Target, targetsOf } from '../../../support/net/probe.ts'
import type { CheckId } from '../report.ts'
import { onFirstUse, reachArm, readLimitMs } from './azure-resource.ts'
import { holdPort } from './own-listener.ts'

export interface Surroundings {
  readonly endpoints: Endpoints
  /** The https URL of an emulator, which also answers for public names. */
  readonly emulator: string | undefined
  /** Where a running `serve` or `run` serves its health. */
  readonly sidecar: URL | undefined
  /** The checks that run. What no check asks for is not asked. */
  readonly selected: ReadonlySet<CheckId>
}

export interface Route {
  readonly targets: readonly Target[]
  /** The emulator passes requests on as it sends deliveries: by its ingress rules, or to the URL itself. */
  readonly byEmulator: boolean
}

export type InputContext = ReturnType<typeof createInputContext>

/** The actions of a write beside reading: the URL and the secrets of a web hook come from calls of their own. */
const verbs = ['write', 'getFullUrl/action', 'getDeliveryAttributes/action'] as const

export function createInputContext(input: PushMetadata, surroundings: Surroundings, signal: AbortSignal) {
  const { endpoints } = surroundings
  const { subscriptionId } = input
  let held: ReturnType<typeof holdPort> | undefined
  const { url, asksArm, wantedToken, resourceOf } = reachArm(input, {
    ...{ subscriptionId, endpoints, signal, verbs, receivesWithoutRights: false },
    explain: (resourceManager) => failureContext(input, resourceManager),
  })
  const endpoint = new URL(input.subscriberEndpoint)
  const proxy = proxyFor(endpoint, surroundings)
  const route = onFirstUse(() => routeOf(endpoint, signal, surroundings.emulator))
  return {
    ...resourceOf(wantedWebHook(input)),
    input,
    surroundings,
    clockSource: asksArm ? ({ url, reachedBy: 'azure/provider' } as const) : undefined,
    /** Where `subscriberEndpoint` is. Rejects as Node's look-up does. */
    route,
    proxy,
    wantedTokens: asksArm ? [wantedToken] : [],
    async portHolder() {
      held ??= holdPort(input, endpoints, signal)
      return (await held).holder
    },
    /** What the public endpoint answers. Rejects where there is no answer. */
    endpointAnswers: onFirstUse(async () =>
      probeEndpoint(input, proxy ? [{ proxy }] : (await route()).targets, surroundings, signal),
    ),
    async close() {
      const port = await held?.catch(() => undefined)
      await port?.close()
    },
  }
}

export type OutputContext = ReturnType<typeof createOutputContext>

export function createOutputContext(metadata: OutputMetadata, surroundings: Surroundings, signal: AbortSignal) {
  const { endpoints } = surroundings
  const { authentication, environment } = metadata
  const output = { ...metadata, topicEndpoint: topicUrl(metadata.topicEndpoint, endpoints) }
  /** `undefined` where the topic takes a key. */
  const credential = onFirstUse((): RenewableCredential | undefined =>
    authentication.kind === 'entra'
      ? createCredential(authentication.credential, { environment, endpoints, tokenTimeoutMs: readLimitMs })
      : undefined,
  )
  return {
    output,
    surroundings,
    credential,
    clockSource: { url: () => new URL('/', output.topicEndpoint).href, reachedBy: 'topic/credential' } as const,
    wantedTokens:
      authentication.kind === 'entra' ? [{ audience: 'the topic', scope: environment.topicScope, credential }] : [],
    /** Where `topicEndpoint` is. Rejects as Node's look-up does. */
    route: onFirstUse(() => routeOf(new URL(output.topicEndpoint), signal)),
    proxy: proxyFor(new URL(output.topicEndpoint), surroundings),
  }
}

/** The proxy of the environment that a host is asked through, as the binding does; `undefined`: the host is asked directly. */
const proxyFor = (url: URL, { emulator }: Surroundings) => (emulator === undefined ? proxyOfEndpoint(url) : undefined)

/** All addresses of a URL's host; with an emulator its own, since only the emulator knows whom it reaches. */
async function routeOf(url: URL, signal: AbortSignal, emulator?: string): Promise<Route> {
  return {
    byEmulator: emulator !== undefined,
    targets: await targetsOf(emulator === undefined ? url : new URL(emulator), signal),
  }
}

/** Asks an emulator to send a request as it sends deliveries. The answer has the header where the emulator could not. */
const emulatorRoute = 'x-eventgrid-emulator-route'

/** Why the emulator reaches nobody; `undefined` for an answer of the endpoint. A text from outside. */
export const unreachedBy = ({ headers, body }: ProbeAnswer): string | undefined =>
  headers[emulatorRoute] === 'failed' ? body : undefined

export type EndpointAnswers = Awaited<ReturnType<typeof probeEndpoint>>

/** Asks the first of all addresses that answers. Rejects where none does, with the error of the first. */
async function probeEndpoint(
  input: PushMetadata,
  targets: readonly Probe['target'][],
  { emulator, endpoints }: Surroundings,
  signal: AbortSignal,
) {
  const shared = {
    url: new URL(input.subscriberEndpoint),
    secureContext: secureContextOf(endpoints),
    servername: emulator === undefined ? undefined : bareHost(new URL(emulator)),
  }
  const code = randomUUID()
  return firstAnswer(targets, signal, async (target, one) => {
    const ask = ({ headers, ...request }: HandshakeRequest) =>
      probe({
        ...shared,
        target,
        signal: one,
        ...request,
        headers: { ...headers, ...(emulator !== undefined && { [emulatorRoute]: 'delivery' }) },
      })
    const [health, options, validation] = await Promise.all([
      ask({ method: 'OPTIONS' }),
      ask(optionsRequest(input)),
      ask(validationRequest(input, code)),
    ])
    /** `code`: what the answer to the validation event must have. */
    return { health, options, validation, code }
  })
}
