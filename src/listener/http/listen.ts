/** The addresses and the port to listen at, and what it means where they cannot be had. */
import { lookup as lookUp } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BindingError, type BindingErrorParts } from '../../core/errors.ts'
import type { ClosableServer } from '../../support/net/closable-server.ts'
import { complaintAboutCodeGeneration } from '../../support/process/code-generation.ts'
import { codeOf } from '../../support/process/error-code.ts'

/** A server that can listen at one address. */
export interface Bindable {
  listen(host: string, port: number): Promise<AddressInfo>
  /** Ends the connections without a request. */
  closeIdleConnections(): void
  /** Frees the port and ends all connections, those with a request after a short grace period. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** Makes a server; called for each address that is used. */
  readonly create: () => Bindable
  /**
   * An IP address, or a name: listens at all of its addresses that this machine has, as `localhost` may be 127.0.0.1 and ::1.
   * Absent: `::`, which includes IPv4, or `0.0.0.0` on a machine without IPv6.
   */
  readonly host: string | undefined
  /** 0 takes a free port. */
  readonly port: number
  /** The addresses of a name. @default the system's */
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string }[]>
}

/** Listens, and gives the first address. Throws PORT_UNAVAILABLE where that is not possible; the port is free then. */
export async function listen({ create, host, port, lookup = allAddresses }: ListenOptions) {
  const servers: Bindable[] = []
  const close = async () => void (await Promise.all(servers.map((server) => server.close())))
  let spare: Bindable | undefined
  let address: AddressInfo | undefined
  let candidate = host ?? '::'
  let refusal: unknown
  try {
    for (candidate of host === undefined ? ['::', '0.0.0.0'] : await addressesOf(host, lookup)) {
      spare ??= create()
      try {
        const bound = await spare.listen(candidate, address?.port ?? port)
        servers.push(spare)
        spare = undefined
        address ??= bound
        if (host === undefined) break
      } catch (error) {
        if (!isNotHere(error)) throw error
        refusal = error
      }
    }
    if (address) {
      return {
        address,
        /** Frees the port and ends all connections. */
        close,
        /** Ends the connections without a request. */
        closeIdleConnections() {
          for (const server of servers) server.closeIdleConnections()
        },
      }
    }
  } catch (error) {
    await close()
    refusal = error
  }
  throw portUnavailable(refusal, candidate, port)
}

/** Throws PORT_UNAVAILABLE where Node allows no HTTP server of ours: the router of Fastify would throw an EvalError. */
export function refuseWithoutCodeGeneration(port: number): void {
  const complaint = complaintAboutCodeGeneration()
  if (!complaint) return
  const what = `handshakePort ${port} cannot be served: ${complaint.what}`
  throw new BindingError('PORT_UNAVAILABLE', { what, fix: complaint.fix, details: { port, reason: 'EvalError' } })
}

/** Each address once: a hosts file may name one twice. */
async function addressesOf(host: string, lookup: NonNullable<ListenOptions['lookup']>): Promise<readonly string[]> {
  return [...new Set((await lookup(host)).map(({ address }) => address))]
}

const allAddresses = (host: string) => lookUp(host, { all: true })

/**
 * Connections that the system queues until they are accepted (it may allow fewer). With Node's 511 a burst overflows the queue: the sender
 * believes that it is connected, and learns a second or more later that it is not.
 */
export const backlog = 4_096

/** A server of Node's as {@link Bindable}. */
export function bindable(server: Server, closing: ClosableServer): Bindable {
  return {
    async listen(host, port) {
      server.listen({ host, port, backlog })
      await once(server, 'listening')
      return addressOf(server)
    },
    closeIdleConnections: () => server.closeIdleConnections(),
    close: () => closing.close(),
  }
}

/** The address of a server that listens on TCP. */
export function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server on TCP has no address')
  return address
}

/** The machine does not have this address, or no addresses of this family. */
const isNotHere = (error: unknown) => ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(codeOf(error) ?? '')

/** What is wrong and what to do, by the system's code. */
export function portUnavailable(cause: unknown, host: string, port: number): BindingError {
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
  }
  const code = reason === '' ? '' : ` (${reason})`
  const other = { what: `cannot listen on ${host} port ${port}${code}`, fix: 'check handshakePort and listenAddress' }
  return new BindingError('PORT_UNAVAILABLE', { ...(known[reason] ?? other), cause, details: { port, host, reason } })
}

const routeIngress = "route the ingress to it (the emulator's: ingress in emulator.yaml)"
const otherAddress = 'leave listenAddress out, or name an address of this machine'
