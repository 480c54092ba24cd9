/** How clients of Azure trust `endpoints.ca`, behind a proxy too. */
import { Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
// Imported as a whole: an older Node has no getCACertificates, and must get as far as the error that says it is too old.
import tls, { type SecureContext } from 'node:tls'
import type { PipelinePolicy, PipelineRequest } from '@azure/core-rest-pipeline'
import type { Endpoints } from '../core/endpoints.ts'
import { keepNewest } from '../support/work/work.ts'
import { isBypassed, refuseUnusableProxy } from './proxy.ts'

/** A process needs one context; a test needs one for each emulator. */
const maxContexts = 8
const contexts = new Map<string, SecureContext>()
const agents = new WeakMap<SecureContext, Agent>()

/**
 * The policy that makes a client trust `endpoints.ca`, also through a proxy, and go past the proxy where NO_PROXY says so. Connections are
 * shared by all clients with the same `ca`.
 */
export function createTrustPolicy(endpoints: Endpoints): PipelinePolicy {
  return {
    name: 'eventgrid-binding-trust',
    sendRequest(request, next) {
      route(request, endpoints)
      return next(request)
    },
  }
}

/** The same by connections of a client's own, which it closes. `isPlain`: by http, which is for this machine only. */
export function openConnections(endpoints: Endpoints, { isPlain = false } = {}) {
  const secureContext = secureContextOf(endpoints)
  const agent = isPlain
    ? new HttpAgent({ keepAlive: true })
    : new Agent({ keepAlive: true, ...(secureContext && { secureContext }) })
  const policy: PipelinePolicy = {
    name: 'eventgrid-binding-connections',
    sendRequest(request, next) {
      sendBy(request, agent, secureContext)
      return next(request)
    },
  }
  return { policy, close: () => agent.destroy() }
}

/** Sends a request past the proxy where it has to go past, and by the agent that trusts `endpoints.ca`. */
export function route(request: PipelineRequest, endpoints: Endpoints): void {
  const secureContext = secureContextOf(endpoints)
  if (!secureContext) {
    passProxy(request)
    return
  }
  const agent = agents.get(secureContext) ?? new Agent({ keepAlive: true, secureContext })
  agents.set(secureContext, agent)
  // A managed identity is asked over plain http.
  if (request.url.startsWith('https:')) sendBy(request, agent, secureContext)
  else passProxy(request)
}

/** Takes the agent of a proxy away from a request that has to go past it. */
function passProxy(request: PipelineRequest): void {
  if (!request.agent) return
  if (isBypassed(request.url)) delete request.agent
  else refuseUnusableProxy(request.url)
}

/**
 * Sends a request by our agent. Behind a proxy of the environment the request has an agent already, which ignores the
 * SDK's `tlsOptions`: then the request itself says what to trust.
 */
function sendBy(request: PipelineRequest, agent: HttpAgent, secureContext: SecureContext | undefined): void {
  passProxy(request)
  if (!request.agent) request.agent = agent
  else if (secureContext) request.requestOverrides = { ...request.requestOverrides, secureContext }
}

/**
 * The TLS context that trusts `endpoints.ca` beside Node's own certificates; `undefined` where Node's own will do. Kept,
 * because parsing all those certificates takes 13 ms, and an agent that is given them as `ca` parses them for each
 * connection and joins them to a text for each request.
 */
export function secureContextOf({ ca }: Endpoints): SecureContext | undefined {
  if (ca === undefined) return undefined
  const known = contexts.get(ca)
  if (known) return known
  // Node takes a list in place of its own and not beside it.
  const context = tls.createSecureContext({ ca: [...tls.getCACertificates('default'), ca] })
  keepNewest(contexts, ca, context, maxContexts)
  return context
}
