// A server of a test on a port of its own.
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'

/** Has a server listen on a free port, by default of this machine alone, until the test's end. The port. */
export async function listen(server: Server & { closeAllConnections?(): void }, host = '127.0.0.1'): Promise<number> {
  onTestFinished(() => {
    server.closeAllConnections?.()
    server.close()
  })
  await once(server.listen(0, host), 'listening')
  // A server that listens on TCP has an address of this form.
  return (server.address() as AddressInfo).port
}
