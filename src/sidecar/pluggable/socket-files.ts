/** Which socket files `serve` makes, replaces and removes: files that nobody serves, in a folder that no other user owns. */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { tryConnection } from '../../support/net/probe.ts'
import { codeOf } from '../../support/process/error-code.ts'

/** The sockets can't be served; the message says why and what to do. */
export class SocketError extends Error {
  override readonly name = 'SocketError'
}

interface SocketOptions {
  /** Absolute path of the folder, which is made where there is none. */
  readonly folder: string
  readonly names: readonly string[]
  readonly mode: number
  readonly bind: (path: string) => Promise<void>
  readonly onWarning?: (warning: string) => void
}

/** The kernel limits the path of a socket; macOS allows fewer bytes than Linux. */
const maxPathBytes = 103

/**
 * Serves sockets in a folder. Each socket gets its name when it listens with the right mode. A socket that a killed process has left is
 * replaced, one that is served never.
 *
 * @throws SocketError when another process serves one of the sockets, a path is too long or taken by another file, or the folder
 *   can't be written to or belongs to another user; no socket is served then
 */
export async function claimSockets({ folder, names, mode, bind, onWarning = () => {} }: SocketOptions) {
  const paths = names.map((name) => join(folder, name))
  const tooLong = paths.find((path) => Buffer.byteLength(path) > maxPathBytes)
  if (tooLong !== undefined) {
    throw new SocketError(`the path of the socket ${tooLong} is too long; choose a folder with a shorter one`)
  }
  const inodes = new Map<string, number>()
  const remove = () => {
    for (const [path, inode] of inodes) {
      try {
        if (inodeOf(path) === inode) rmSync(path, { force: true })
      } catch (error) {
        onWarning(
          `${path} can't be removed (${codeOf(error)}); remove it, or daprd waits for a socket that nobody serves`,
        )
      }
    }
  }
  let room: string | undefined
  try {
    mkdirSync(folder, { recursive: true })
    checkOwner(folder, onWarning)
    // The sockets are made in a temporary folder, which daprd ignores. A server that ends removes the path that it was bound to: no other
    // process uses that path.
    const made = mkdtempSync(join(folder, '.eb'))
    room = made
    const fresh = paths.map((path, at) => ({ path, from: join(made, String(at)) }))
    for (const { from } of fresh) {
      await bind(from)
      chmodSync(from, mode)
    }
    for (const path of paths) await refuseLive(path)
    /** A killed process had left sockets of these names. */
    const replaced = paths.some((path) => inodeOf(path) !== undefined)
    for (const { path, from } of fresh) {
      renameSync(from, path)
      inodes.set(path, inodeOf(path) ?? 0)
    }
    return { paths, replaced, remove }
  } catch (error) {
    remove()
    throw codeOf(error) === undefined ? error : folderError(folder, error)
  } finally {
    if (room !== undefined) rmSync(room, { recursive: true, force: true })
  }
}

/** The owner of a folder can replace a socket in it. daprd would then send its secrets to that user. */
function checkOwner(folder: string, onWarning: (warning: string) => void): void {
  const user = process.getuid?.()
  const { uid, mode } = statSync(folder)
  if (user !== undefined && uid !== 0 && uid !== user) {
    throw new SocketError(
      `user ${uid} owns ${folder} and could replace the sockets; choose a folder that root or user ${user} owns, ` +
        'with mode 0755 or 0700, by --sockets-folder or DAPR_COMPONENTS_SOCKETS_FOLDER, as for daprd',
    )
  }
  if ((mode & 0o1002) !== 0o002) return
  onWarning(
    `every user may replace files in ${folder} (mode ${(mode & 0o7777).toString(8)}, no sticky bit). In a Kubernetes volume ` +
      'these are only the containers of the pod; elsewhere choose a folder with mode 0755 or 0700',
  )
}

const folderError = (folder: string, error: unknown) =>
  new SocketError(
    `no socket can be made in ${folder} (${codeOf(error)}); choose a folder that user ${process.getuid?.() ?? ''} may ` +
      'write to, by --sockets-folder or DAPR_COMPONENTS_SOCKETS_FOLDER, as for daprd',
    { cause: error },
  )

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
  try {
    await tryConnection({ path })
    return true
  } catch (error) {
    return !deadCodes.has(codeOf(error))
  }
}

function inodeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.ino
}
