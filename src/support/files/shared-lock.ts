/** A lock among processes that share a folder: who holds it has a folder of his own in the lock's folder, and renews that. */
import { existsSync, lstatSync, mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../process/error-code.ts'
import { lifeOf, processMark } from '../process/process-mark.ts'
import { pause, type SteadyClock, systemClock } from '../time/clock.ts'

export type SharedLock = ReturnType<typeof hold>

/** Why a lock is not had: another process holds it, or something else has the path. */
export type LockRefusal = 'busy' | 'noFolder'

export interface LockHolder {
  readonly mark: string
  /** Holders that it has seen to have ended: their other locks need not be watched. */
  readonly ended: Set<string>
}

export const lockHolder = (): LockHolder => ({ mark: processMark(), ended: new Set() })

export interface SharedLockOptions {
  /** @default a new one */
  readonly holder?: LockHolder | undefined
  /** How long to wait for a process that runs. One that may be dead is watched as long as it takes. @default 0 */
  readonly waitMs?: number | undefined
  /** Called once where another process holds the lock, or has left it. */
  readonly onWait?: (() => void) | undefined
  readonly signal?: AbortSignal | undefined
  readonly clock?: SteadyClock | undefined
}

const renewMs = 2_000
/** A holder that renews nothing for so long was killed, or is suspended where nobody here can tell. */
const silentMs = 10_000
const pollMs = 25

/**
 * Takes the lock of a path, which becomes a folder. A holder that has ended loses it: at once where the system tells, else when he has
 * not renewed it for ten seconds of this process's own watching, so that no clock needs to be right.
 *
 * @throws the reason of `signal` when it aborts; as Node does where folders can't be made
 */
export async function takeSharedLock(path: string, options: SharedLockOptions = {}): Promise<SharedLock | LockRefusal> {
  const { waitMs = 0, onWait = () => {}, signal = new AbortController().signal, clock = systemClock } = options
  const { holder = lockHolder() } = options
  const watch = watchHolders(path, holder.ended, clock)
  const deadline = clock.elapsed() + waitMs
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted()
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) return 'noFolder'
    const others = watch()
    if (others === 'none') {
      const own = makeOwn(path, holder.mark)
      if (own !== undefined) {
        if (holdersOf(path).length === 1 && existsSync(own)) return hold(path, own, clock)
        // Another process came at the same moment. Both step back, and come again at moments of their own.
        leave(path, own)
      }
    } else if (others === 'alive' && clock.elapsed() >= deadline) return 'busy'
    else if (attempt === 1) onWait()
    await pause(clock, pollMs * (0.5 + Math.random()), signal)
  }
}

/** Looks at the holders each time it is called, and removes those that have ended. */
function watchHolders(path: string, ended: Set<string>, clock: SteadyClock): () => 'none' | 'alive' | 'unknown' {
  const seen = new Map<string, { readonly renewed: number; readonly since: number; readonly isAlive: boolean }>()
  const stateOf = (name: string): 'ended' | 'alive' | 'unknown' => {
    const life = lifeOf(name)
    if (life !== 'unknown') return life === 'runs' ? 'alive' : 'ended'
    const renewed = lstatSync(join(path, name), { throwIfNoEntry: false })?.mtimeMs
    if (renewed === undefined || ended.has(name)) return 'ended'
    const before = seen.get(name)
    const now = clock.elapsed()
    if (before?.renewed !== renewed) {
      seen.set(name, { renewed, since: now, isAlive: before !== undefined })
      return before === undefined ? 'unknown' : 'alive'
    }
    if (now - before.since >= silentMs) {
      ended.add(name)
      return 'ended'
    }
    return before.isAlive ? 'alive' : 'unknown'
  }
  return () => {
    const found = holdersOf(path).map((name) => ({ name, life: stateOf(name) }))
    // Its name is that of one holder: no other one loses anything.
    for (const { name, life } of found) if (life === 'ended') rmSync(join(path, name), { recursive: true, force: true })
    const lives = new Set(found.map(({ life }) => life))
    if (lives.has('alive')) return 'alive'
    return lives.has('unknown') ? 'unknown' : 'none'
  }
}

function holdersOf(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** `undefined`: another process has just left, and took the lock's folder along. */
function makeOwn(path: string, mark: string): string | undefined {
  makeFolder(path, 'EEXIST')
  const own = join(path, mark)
  // Or this process has a mark like that: of its many one byte is by chance.
  return makeFolder(own, 'ENOENT', 'EEXIST') ? own : undefined
}

/** Whether it was made now. */
function makeFolder(path: string, ...expected: readonly string[]): boolean {
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (expected.includes(codeOf(error) ?? '')) return false
    throw error
  }
}

function leave(path: string, own: string): void {
  rmSync(own, { recursive: true, force: true })
  try {
    rmdirSync(path)
  } catch {
    // Another process is in it, or has removed it.
  }
}

function hold(path: string, own: string, clock: SteadyClock) {
  let cancel = () => {}
  let isReleased = false
  const renew = async () => {
    const now = new Date(clock.now())
    // Where it was taken away, `lost` tells.
    await utimes(own, now, now).catch(() => {})
    if (!isReleased) cancel = clock.setTimer(renewMs, renew)
  }
  cancel = clock.setTimer(renewMs, renew)
  return {
    /** A folder of the holder's own. Everything in it is removed at `release`. */
    room: own,
    /** Another process took this one for dead, and may hold the lock now. */
    get lost() {
      return !existsSync(own)
    },
    release(): void {
      isReleased = true
      cancel()
      leave(path, own)
    },
  }
}
