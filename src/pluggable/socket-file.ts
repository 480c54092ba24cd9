import { chmodSync, linkSync, lstatSync, mkdtempSync, renameSync, rmSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path'

/** Sockets have a short field for their path in the kernel, on macOS shorter than on Linux. */
const longestPath = 103

/** A socket file that is ours. */
export interface SocketFile {
  readonly path: string
  /** Takes the file away, if it is still the one that was put there. */
  remove(): void
}

/** The socket can't be had; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}

/**
 * Serves a socket at `path`. `bind` listens at the path it is given, which is another one: only when it listens, with the right mode, the
 * socket gets its name, so nobody ever finds one there that nobody serves. What a process that died has left is replaced; a socket that
 * somebody serves is never taken over, not even by two processes that start at the same moment.
 *
 * @throws SocketError when somebody serves that socket, the path is too long or something else lies there
 */
export async function claimSocket(
  path: string,
  mode: number,
  bind: (path: string) => Promise<void>,
): Promise<SocketFile> {
  if (Buffer.byteLength(path) > longestPath) {
    throw new SocketError(`the path of the socket ${path} is too long; choose a folder with a shorter one`)
  }
  // A folder, since the runtime looks at every socket that lies beside ours.
  const workshop = mkdtempSync(join(dirname(path), '.eb'))
  try {
    const fresh = join(workshop, 's')
    await bind(fresh)
    chmodSync(fresh, mode)
    const { ino } = lstatSync(fresh)
    while (!tryLink(fresh, path)) await clearStale(path, join(workshop, 'o'))
    return { path, remove: () => removeIfSame(path, ino) }
  } finally {
    rmSync(workshop, { recursive: true, force: true })
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Moves what is stale out of the way. Looks again once it is moved: another process may have put its own there in between. */
async function clearStale(path: string, aside: string): Promise<void> {
  if ((await probe(path)) === 'live') throw inUse(path)
  try {
    renameSync(path, aside)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return
    throw error
  }
  if ((await probe(aside)) === 'live') {
    tryLink(aside, path)
    throw inUse(path)
  }
  unlinkSync(aside)
}

const inUse = (path: string) =>
  new SocketError(
    `${basename(path)} in ${dirname(path)} is served by another process; give each daprd a folder of its own, with one "serve"`,
  )

/** Does somebody serve it? */
function probe(path: string): Promise<'live' | 'stale'> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isSocket()) throw new SocketError(`${path} is there and is no socket; take it away`)
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve('live')
    })
    // Anything else, such as no permission or a full queue of connections, is no proof that nobody is there.
    socket.once('error', (error) => {
      resolve(['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '') ? 'stale' : 'live')
    })
  })
}

function removeIfSame(path: string, ino: number): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path, { force: true })
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
