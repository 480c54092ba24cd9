// Lock `.eb` in the sockets folder: 10 s wait, abandoned after 5 s.
import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '../../../support/process/error-code.ts'

/** The sockets can't be served; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}

/** The right to look at the sockets of a folder and to replace them. */
export type FolderLock = ReturnType<typeof lockOf>

export interface LockOptions {
  /** Called once when another process has the lock. */
  readonly onWait?: (path: string) => void
  readonly signal?: AbortSignal | undefined
  /** The longest wait for other processes. @default 10_000 */
  readonly lockTimeoutMs?: number | undefined
}

/** A process needs the lock for milliseconds: an older one belonged to a process that was killed. */
const lockLifeMs = 5_000
const lockPollMs = 25

/**
 * Takes the lock of a folder: `.eb` in it.
 *
 * @throws SocketError when something else has that name, or the lock is not free in time; the reason of `signal` when it aborts
 */
export async function takeFolderLock(folder: string, options: LockOptions): Promise<FolderLock> {
  const { signal, onWait = () => {}, lockTimeoutMs = 10_000 } = options
  const path = join(folder, '.eb')
  const deadline = performance.now() + lockTimeoutMs
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const room = makeRoom(path)
    if (room !== undefined) return lockOf(path, room)
    removeAbandoned(path)
    if (attempt === 1) onWait(path)
    if (performance.now() > deadline) {
      throw new SocketError(`another process keeps the lock ${path}; remove it if no other "serve" is starting`)
    }
    await delay(lockPollMs, undefined, { signal })
  }
}

/** `undefined`: another process has the lock. */
function makeRoom(path: string): string | undefined {
  const room = join(path, randomBytes(4).toString('hex'))
  // ENOENT: another process took the lock for abandoned between the two calls.
  return makeFolder(path, 'EEXIST') && makeFolder(room, 'ENOENT') ? room : undefined
}

function makeFolder(path: string, expected: 'EEXIST' | 'ENOENT'): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (codeOf(error) === expected) return false
    throw error
  }
}

function removeAbandoned(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found) return
  if (!found.isDirectory()) throw new SocketError(`${path} is not a folder; remove it: "serve" needs this name`)
  // A time in the future: the clock was set back since.
  if (Math.abs(Date.now() - found.mtimeMs) <= lockLifeMs) return
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    // Another process has just put its room there.
    if (codeOf(error) === 'ENOTEMPTY') return
    throw new SocketError(`the abandoned lock ${path} can't be removed (${codeOf(error) ?? 'unknown'}); remove it`)
  }
}

function lockOf(path: string, room: string) {
  return {
    /** A folder for new sockets: the runtime ignores folders. Everything in it is removed at `release`. */
    room,
    /** Another process took this lock for abandoned and removed it, and the `room` with it. */
    get lost() {
      return !existsSync(room)
    },
    release(): void {
      rmSync(room, { recursive: true, force: true })
      try {
        rmdirSync(path)
      } catch {
        // Lost: what has that name now belongs to another process, or nothing has it.
      }
    },
  }
}
