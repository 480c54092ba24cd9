import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ingress } from '../../packages/emulator/src/index.ts'

/** Where a witness keeps what it has built; not in the repository. */
export function cacheOf(witness: string): string {
  return join(import.meta.dirname, '..', '..', '.cache', 'witness', witness)
}

/** Writes an emulator's authority to a file, for clients that take no other. Its path. */
export async function caFile(witness: string, ca: string): Promise<string> {
  const folder = cacheOf(`${witness}-ca`)
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'ca.pem')
  await writeFile(file, ca)
  return file
}

/** `https://port-1234.subscriber.example/…` is served on port 1234 of this machine: a witness chooses its port by itself. */
export const portIngress: Ingress = ({ hostname, pathname, search }) => {
  const port = /^port-(\d+)\.subscriber\.example$/.exec(hostname)?.[1]
  return port === undefined ? undefined : `http://127.0.0.1:${port}${pathname}${search}`
}
