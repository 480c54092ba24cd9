/** Opens the port of a listener: at which address, how long a port in use is tried, and what it means where it cannot be had. */
import { lookup } from 'node:dns/promises'
import { type AddressInfo, isIP } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { BindingError, type BindingErrorParts } from '../../core/errors.ts'
import { complaintAboutCodeGeneration } from '../../support/process/code-generation.ts'
import { codeOf } from '../../support/process/error-code.ts'
import { pause, systemClock, within } from '../../support/time/clock.ts'

/** Where to listen. */
export interface ListenAt {
  /**
   * An IP address, or a host name: its first address counts, IPv4 before IPv6. Absent: `::`, which includes IPv4, or `0.0.0.0` on a machine
   * without IPv6.
   */
  readonly host: string | undefined
  /** 0 takes a free port. */
  readonly port: number
  /** How long a port in use is tried, in ms. */
  readonly freeingMs: number
}

/** How long a port in use is tried by default, in ms: another listener may be about to free it, as where two components exchange their ports. */
export const freeingMs = 2_000
const tryAgainMs = 50

/** How long the address of a host name is waited for, in ms. */
const lookupMs = 10_000

/**
 * Connections that the system queues until they are accepted (it may allow fewer). With Node's 511 a burst overflows the queue: the sender
 * believes that it is connected, and learns a second or more later that it is not.
 */
const backlog = 4_096

/**
 * Has a Fastify server listen, whose plugins are loaded.
 *
 * @throws BindingError PORT_UNAVAILABLE; the reason of `signal`
 */
export async function listen(app: FastifyInstance, at: ListenAt, signal: AbortSignal): Promise<AddressInfo> {
  const { host, port, freeingMs } = at
  for (let waitedMs = 0; ; waitedMs += tryAgainMs) {
    signal.throwIfAborted()
    try {
      return host === undefined
        ? await listenEverywhere(app, port)
        : await listenAt(app, await addressOf(host, signal), port)
    } catch (error) {
      signal.throwIfAborted()
      if (codeOf(error) !== 'EADDRINUSE' || waitedMs >= freeingMs) throw portUnavailable(error, host ?? '::', port)
    }
    await pause(systemClock, tryAgainMs, signal)
  }
}

async function listenEverywhere(app: FastifyInstance, port: number): Promise<AddressInfo> {
  try {
    return await listenAt(app, '::', port)
  } catch (error) {
    if (!hasNoIPv6.has(codeOf(error) ?? '')) throw error
    return listenAt(app, '0.0.0.0', port)
  }
}

const hasNoIPv6: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'])

/** @param address an IP address. With a name Fastify would open further servers, without our bounds */
async function listenAt(app: FastifyInstance, address: string, port: number): Promise<AddressInfo> {
  await app.listen({ host: address, port, backlog })
  const bound = app.server.address()
  if (bound === null || typeof bound === 'string') throw new Error('a server on TCP has no address')
  return bound
}

async function addressOf(host: string, signal: AbortSignal): Promise<string> {
  if (isIP(host) > 0) return host
  const looking = lookup(host, { order: 'ipv4first' })
  if (await within(systemClock, lookupMs, looking, signal)) return (await looking).address
  looking.catch(() => {})
  throw Object.assign(new Error('its address is not known in time'), { code: 'ETIMEDOUT' })
}

/** Throws PORT_UNAVAILABLE where Node allows no HTTP server of ours: the router of Fastify would throw an EvalError. */
export function refuseWithoutCodeGeneration(port: number): void {
  const complaint = complaintAboutCodeGeneration()
  if (!complaint) return
  const what = `handshakePort ${port} cannot be served: ${complaint.what}`
  throw new BindingError('PORT_UNAVAILABLE', { what, fix: complaint.fix, details: { port, reason: 'EvalError' } })
}

/** What is wrong and what to do, by the system's code. */
function portUnavailable(cause: unknown, host: string, port: number): BindingError {
  const reason = codeOf(cause) ?? ''
  const known: Readonly<Record<string, Pick<BindingErrorParts, 'what' | 'fix'>>> = {
    EADDRINUSE: {
      what: `handshakePort ${port} is in use`,
      fix: `stop what listens there or choose another port, and ${routeIngress}`,
    },
    EACCES: {
      what: `handshakePort ${port} may not be opened by this user`,
      fix: `choose a port of 1024 or above, and ${routeIngress}`,
    },
    EADDRNOTAVAIL: { what: `listenAddress ${host} is not an address of this machine`, fix: otherAddress },
    ENOTFOUND: { what: `listenAddress ${host} is not known`, fix: otherAddress },
    ETIMEDOUT: { what: `the address of listenAddress ${host} is not known in time`, fix: otherAddress },
  }
  const code = reason === '' ? '' : ` (${reason})`
  const other = { what: `cannot listen on ${host} port ${port}${code}`, fix: 'check handshakePort and listenAddress' }
  return new BindingError('PORT_UNAVAILABLE', { ...(known[reason] ?? other), cause, details: { port, host, reason } })
}

const routeIngress = "route the ingress to it (the emulator's: ingress in emulator.yaml)"
const otherAddress = 'leave listenAddress out, or name an address of this machine'
