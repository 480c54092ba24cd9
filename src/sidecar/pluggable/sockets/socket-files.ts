/** Makes, replaces and removes the files of sockets, and leaves those that are in use. */
import { once } from 'node:events'
import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { type SharedLock, type SharedLockOptions, takeSharedLock } from '../../../support/files/shared-lock.ts'
import { codeOf } from '../../../support/process/error-code.ts'
import { decideTrust, pathSteps } from './folder-trust.ts'

/** The sockets can't be served; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}

export interface SocketOptions extends Pick<SharedLockOptions, 'signal'> {
  /** Absolute path of the folder; made where it does not exist. */
  readonly folder: string
  readonly names: readonly string[]
  readonly mode: number
  readonly bind: (path: string) => Promise<void>
  readonly onWarning?: (warning: string) => void
  /** Called once when another process has the lock of the folder. */
  readonly onWait?: (path: string) => void
  /** The longest wait for other processes. @default 10_000 */
  readonly lockTimeoutMs?: number | undefined
}

/** The kernel limits the path of a socket; macOS allows fewer bytes than Linux. */
const maxPathBytes = 103

/** Another process removes the lock of a process that was suspended for seconds. */
const maxAttempts = 3

/**
 * Serves sockets in a folder. Each is made elsewhere and gets its name when it listens with the right mode, so a socket under
 * its name is always served. Sockets of a killed process are replaced; those of a running one never, even when several processes
 * start at once.
 *
 * @throws SocketError when another process serves one of the sockets, a path is too long or taken by another file, or the folder
 *   can't be written to or belongs to another user; no socket is served then
 */
export async function claimSockets(options: SocketOptions) {
  const { folder, names } = options
  const paths = names.map((name) => join(folder, name))
  const tooLong = paths.find((path) => Buffer.byteLength(path) > maxPathBytes)
  if (tooLong !== undefined) {
    throw new SocketError(`the path of the socket ${tooLong} is too long; choose a folder with a shorter one`)
  }
  prepareFolder(options)
  for (let attempt = 1; ; attempt++) {
    const lock = await takeFolderLock(options).catch((error: unknown) => {
      options.signal?.throwIfAborted()
      throw folderError(folder, error)
    })
    try {
      return await claim(paths, lock, options)
    } catch (error) {
      if (!lock.lost || attempt === maxAttempts) throw error
    } finally {
      lock.release()
    }
  }
}

/** The right to look at the sockets of a folder and to replace them, which a process needs for milliseconds. */
async function takeFolderLock({ folder, onWait, lockTimeoutMs = 10_000, ...options }: SocketOptions) {
  // The runtime ignores folders.
  const path = join(folder, '.eb')
  const lock = await takeSharedLock(path, { ...options, waitMs: lockTimeoutMs, onWait: () => onWait?.(path) })
  if (lock === 'noFolder') throw new SocketError(`${path} is not a folder; remove it: "serve" needs this name`)
  if (lock === 'busy') {
    throw new SocketError(`another process keeps the lock ${path}; remove it if no other "serve" is starting`)
  }
  return lock
}

/** Sockets that this process has bound. */
let bound = 0

async function claim(paths: readonly string[], lock: SharedLock, { mode, bind }: SocketOptions) {
  const claimed = new Map<string, number>()
  const remove = () => {
    for (const [path, inode] of claimed) if (inodeOf(path) === inode) rmSync(path, { force: true })
  }
  try {
    for (const path of paths) await refuseLive(path)
    /** A killed process had left sockets of these names. */
    const replaced = paths.some((path) => inodeOf(path) !== undefined)
    for (const path of paths) {
      // At its end a server removes the path that it was bound to. Nobody has ever used this one, not in this process either.
      const fresh = join(lock.room, String(bound++))
      await bind(fresh)
      chmodSync(fresh, mode)
      renameSync(fresh, path)
      claimed.set(path, inodeOf(path) ?? 0)
    }
    return { paths, replaced, remove }
  } catch (error) {
    remove()
    throw error
  }
}

function prepareFolder({ folder, onWarning = () => {} }: SocketOptions): void {
  const uid = process.getuid?.()
  try {
    mkdirSync(folder, { recursive: true })
    if (uid === undefined) return
    const { refusal, warnings } = decideTrust(pathSteps(folder), uid)
    if (refusal !== undefined) throw new SocketError(refusal)
    for (const warning of warnings) onWarning(warning)
  } catch (error) {
    throw folderError(folder, error)
  }
}

function folderError(folder: string, error: unknown): SocketError {
  if (error instanceof SocketError) return error
  return new SocketError(
    `no socket can be made in ${folder} (${codeOf(error) ?? 'unknown'}); choose a folder that ` +
      `user ${process.getuid?.() ?? ''} may write to, by --sockets-folder or DAPR_COMPONENTS_SOCKETS_FOLDER, as for daprd`,
    { cause: error },
  )
}

async function refuseLive(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isSocket()) throw new SocketError(`${path} is not a socket; remove it`)
  if (!(await isServed(path))) return
  throw new SocketError(
    `${basename(path)} in ${dirname(path)} is served by another process; give each daprd a folder of its own, with one "serve"`,
  )
}

/** A socket that nobody serves, or that has vanished. Other errors, such as a full queue of connections, prove nothing. */
const deadCodes: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT'])

async function isServed(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return !deadCodes.has(codeOf(error))
  } finally {
    socket.destroy()
  }
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino
}
