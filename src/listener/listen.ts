import { lookup as lookUp } from 'node:dns/promises'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BindingError } from '../core/errors.ts'
import { codeOf } from '../support/error-code.ts'

export interface ListenOptions {
  /** Makes a server; asked for each address. */
  readonly create: () => Server
  /**
   * An IP address, or a name: all of its addresses that are of this machine, as `localhost` may be 127.0.0.1 and ::1.
   * Absent: `::`, which takes IPv4 as well, or `0.0.0.0` on a machine without IPv6.
   */
  readonly host: string | undefined
  /** 0 takes a free port. */
  readonly port: number
  /** Told of a connection that could not be accepted, by the system's code: a firewall's EPERM, for instance. */
  readonly onRefused: (code: string) => void
  /** The addresses of a name. @default the system's */
  readonly lookup?: (host: string) => Promise<readonly { readonly address: string }[]>
}

/** What listens. */
export interface Listening {
  /** The address, the first where there are several. */
  readonly address: AddressInfo
  /** Ends the connections on which nothing is under way. */
  closeIdleConnections(): void
  /** Frees the port and ends all connections. */
  close(): Promise<void>
}

/** Listens. Throws PORT_UNAVAILABLE where that is not possible; the port is free then. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { create, host, port, onRefused, lookup = allAddresses } = options
  const servers: Server[] = []
  const close = async () => void (await Promise.all(servers.map(closeServer)))
  let address: AddressInfo | undefined
  let candidate = host ?? '::'
  let refusal: unknown
  try {
    for (candidate of host === undefined ? ['::', '0.0.0.0'] : await addressesOf(host, lookup)) {
      const server = create()
      try {
        const bound = await open(server, candidate, address?.port ?? port)
        // Without this one connection that the system can't hand over would end the process.
        server.on('error', (error) => onRefused(codeOf(error) ?? ''))
        servers.push(server)
        address ??= bound
        if (host === undefined) break
      } catch (error) {
        if (!isNotHere(error)) throw error
        refusal = error
      }
    }
    if (address) {
      return {
        ...{ address, close },
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

/** Each address once: a hosts file may name one twice. */
async function addressesOf(host: string, lookup: NonNullable<ListenOptions['lookup']>): Promise<readonly string[]> {
  return [...new Set((await lookup(host)).map(({ address }) => address))]
}

const allAddresses = (host: string) => lookUp(host, { all: true })

/**
 * Connections that the system keeps until they are accepted (it may allow fewer). Beyond Node's own 511 those of a burst are let down: the sender takes them for
 * made, and is told a second or more later that they are not.
 */
const backlog = 4_096

async function open(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen({ host, port, backlog })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server on TCP has no address')
  return address
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** The machine has no such address, or no addresses of that kind. */
const isNotHere = (error: unknown) => ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EINVAL'].includes(codeOf(error) ?? '')

function portUnavailable(cause: unknown, host: string, port: number): BindingError {
  const code = codeOf(cause) ?? ''
  const { what, fix } = explanations.get(code) ?? {
    what: `cannot listen on ${host} port ${port}${code === '' ? '' : ` (${code})`}`,
    fix: 'check handshakePort and listenAddress',
  }
  return new BindingError('PORT_UNAVAILABLE', {
    what: what.replace('{port}', String(port)).replace('{host}', host),
    fix,
    cause,
    details: { port, host, reason: code },
  })
}

const explanations: ReadonlyMap<string, { what: string; fix: string }> = new Map([
  [
    'EADDRINUSE',
    {
      what: 'handshakePort {port} is in use',
      fix: 'stop what listens there or choose another port, and route the ingress to it',
    },
  ],
  [
    'EACCES',
    {
      what: 'handshakePort {port} may not be opened by this user',
      fix: 'choose a port of 1024 or above, and route the ingress to it',
    },
  ],
  [
    'EADDRNOTAVAIL',
    {
      what: 'listenAddress {host} is not an address of this machine',
      fix: 'leave listenAddress out, or name an address of this machine',
    },
  ],
  [
    'ENOTFOUND',
    { what: 'listenAddress {host} is not known', fix: 'leave listenAddress out, or name an address of this machine' },
  ],
])
