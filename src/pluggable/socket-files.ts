import { randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../support/error-code.ts'

/** Socket files that are ours. */
export interface SocketFiles {
  readonly paths: readonly string[]
  /** Whether they took the place of those of a process that was killed. */
  readonly replaced: boolean
  /** Takes the files away, each only if it is still the one that was put there. */
  remove(): void
}

/** The sockets can't be had; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}

/** Sockets have a short field for their path in the kernel, on macOS shorter than on Linux. */
const longestPath = 103

/**
 * Serves sockets of these names in a folder. `bind` listens at the path it is given, which is another one: only when it listens, with the
 * right mode, a socket gets its name, so nobody ever finds one there that nobody serves. What a process that died has left is replaced; a
 * socket that somebody serves is never taken over, not even by processes that start at the same moment.
 *
 * @throws SocketError when somebody serves one of them, a path is too long, something else lies there or the folder can't be written to; none is served then
 */
export async function claimSockets(
  folder: string,
  names: readonly string[],
  mode: number,
  bind: (path: string) => Promise<void>,
): Promise<SocketFiles> {
  const paths = names.map((name) => join(folder, name))
  for (const path of paths) {
    if (Buffer.byteLength(path) <= longestPath) continue
    throw new SocketError(`the path of the socket ${path} is too long; choose a folder with a shorter one`)
  }
  const lock = await openFolder(folder)
  const claimed = new Map<string, number>()
  let replaced = false
  const remove = () => {
    for (const [path, ino] of claimed) if (inodeOf(path) === ino) rmSync(path, { force: true })
  }
  try {
    for (const path of paths) await refuseLive(path)
    replaced = paths.some((path) => inodeOf(path) !== undefined)
    for (const path of paths) {
      // A server that ends takes away what stands at the path that it was bound to, so nobody else may have had this one.
      const fresh = join(lock, randomBytes(4).toString('hex'))
      await bind(fresh)
      chmodSync(fresh, mode)
      renameSync(fresh, path)
      claimed.set(path, inodeOf(path) ?? 0)
    }
  } catch (error) {
    remove()
    throw error
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
  return { paths, replaced, remove }
}

/** Makes the folder where it is not there yet; gives back its lock. */
async function openFolder(folder: string): Promise<string> {
  try {
    mkdirSync(folder, { recursive: true })
    return await takeLock(folder)
  } catch (error) {
    throw new SocketError(
      `no socket can be made in ${folder} (${codeOf(error) ?? 'unknown'}); choose a folder that user ${process.getuid?.() ?? ''} may write to, ` +
        'by --sockets-folder or DAPR_COMPONENTS_SOCKETS_FOLDER, as for daprd',
    )
  }
}

const lockLifeMs = 5_000
const lockPollMs = 25

/**
 * Makes the folder that says that somebody looks at the sockets and replaces them. A folder, since the runtime looks at every socket beside
 * ours but into no folder, so it is also where new sockets are made. Whoever holds it needs milliseconds; an old one was left by a process that was killed.
 */
async function takeLock(folder: string): Promise<string> {
  const lock = join(folder, '.eb')
  for (;;) {
    try {
      mkdirSync(lock)
      return lock
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
    // Of the future it is where the clock was set back since.
    if (made !== undefined && Math.abs(Date.now() - made) > lockLifeMs) rmSync(lock, { recursive: true, force: true })
    else await delay(lockPollMs)
  }
}

async function refuseLive(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) throw new SocketError(`${path} is there and is no socket; take it away`)
  if (!(await answers(path))) return
  throw new SocketError(
    `${basename(path)} in ${dirname(path)} is served by another process; give each daprd a folder of its own, with one "serve"`,
  )
}

/** Nobody serves it, or it is gone meanwhile. */
const deadCodes: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT'])

/** Does somebody serve it? Anything else, such as no permission or a full queue of connections, is no proof of the contrary. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error) => resolve(!deadCodes.has(codeOf(error))))
  })
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino
}
