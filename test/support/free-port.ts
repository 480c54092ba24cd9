import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'

/** A port that nobody listens on at the moment, on any address, for a program that takes none that is chosen for it. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, listening))
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}
