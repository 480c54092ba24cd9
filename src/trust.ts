import { Agent } from 'node:https'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { PipelinePolicy } from '@azure/core-rest-pipeline'
import { type Endpoints, trustedCertificates } from './endpoints.ts'

/** What a client of the Azure SDKs is given so that it trusts `endpoints.ca` beside Node's own certificates. */
export interface TrustOptions {
  /** For the SDKs' own agents, which take over behind a proxy of the environment. */
  readonly tlsOptions?: { readonly ca: string[] }
  readonly additionalPolicies: readonly { readonly policy: PipelinePolicy; readonly position: 'perRetry' }[]
}

/** Trusted texts of the moment: a process has one, a test one for each emulator. */
const mostContexts = 8
const contexts = new Map<string, SecureContext>()
const agents = new WeakMap<SecureContext, Agent>()

/**
 * The options that make a client of the Azure SDKs trust `endpoints.ca`; nothing where there is none. Connections are
 * shared by all clients with the same `ca`.
 */
export function trustOptions(endpoints: Endpoints): TrustOptions {
  const ca = trustedCertificates(endpoints)
  const secureContext = secureContextOf(endpoints)
  if (!ca || !secureContext) return { additionalPolicies: [] }
  const agent = agents.get(secureContext) ?? new Agent({ keepAlive: true, secureContext })
  agents.set(secureContext, agent)
  const policy: PipelinePolicy = {
    name: 'eventgrid-binding-trust',
    sendRequest(request, next) {
      // A proxy of the environment has set its agent by now.
      request.agent ??= agent
      return next(request)
    },
  }
  return { tlsOptions: { ca }, additionalPolicies: [{ policy, position: 'perRetry' }] }
}

/**
 * The TLS context that trusts `endpoints.ca` beside Node's own certificates; `undefined` where Node's own will do. Kept,
 * because parsing all those certificates takes 13 ms, and an agent that is given them as `ca` parses them for each
 * connection and joins them to a text for each request.
 */
export function secureContextOf(endpoints: Endpoints): SecureContext | undefined {
  if (endpoints.ca === undefined) return undefined
  const known = contexts.get(endpoints.ca)
  if (known) return known
  const ca = trustedCertificates(endpoints)
  if (!ca) return undefined
  const context = createSecureContext({ ca })
  const [oldest] = contexts.keys()
  if (contexts.size >= mostContexts && oldest !== undefined) contexts.delete(oldest)
  contexts.set(endpoints.ca, context)
  return context
}
