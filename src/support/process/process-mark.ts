/** A mark that no two processes share, and whether its process still runs, as far as this machine can tell. */
import { hash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { codeOf } from './error-code.ts'

/** `unknown`: it belongs to another machine or container, or this system does not tell. */
export type ProcessLife = 'runs' | 'ended' | 'unknown'

/** Bytes of a mark: of the machine, the process id and its start, and one by chance, as a process may need several. */
const sizes = { machine: 3, pid: 3, start: 5, chance: 1 } as const
const pidAt = sizes.machine
const startAt = pidAt + sizes.pid
const markLength = 16

/** A mark of a process here: 16 characters that a file name may have. The id of a process alone is none: each container has a process 1. */
export function processMark(pid = process.pid): string {
  const machine = machineHere()
  const start = machine && startOf(pid)
  if (machine === undefined || start === undefined) {
    return Buffer.concat([Buffer.alloc(sizes.machine), randomBytes(12 - sizes.machine)]).toString('base64url')
  }
  const mark = Buffer.concat([machine, Buffer.alloc(sizes.pid + sizes.start), randomBytes(sizes.chance)])
  mark.writeUIntBE(pid, pidAt, sizes.pid)
  mark.writeUIntBE(start, startAt, sizes.start)
  return mark.toString('base64url')
}

/** Whether the process of a mark runs; one that is suspended does. */
export function lifeOf(mark: string): ProcessLife {
  const bytes = Buffer.from(mark, 'base64url')
  const machine = machineHere()
  if (mark.length !== markLength || !machine?.equals(bytes.subarray(0, sizes.machine))) return 'unknown'
  const pid = bytes.readUIntBE(pidAt, sizes.pid)
  const start = startOf(pid)
  if (start !== undefined) return start === bytes.readUIntBE(startAt, sizes.start) ? 'runs' : 'ended'
  return isHidden(pid) ? 'unknown' : 'ended'
}

/** Where ids name processes: a process id namespace of one start of the kernel. Only Linux tells. */
function machineHere(): Buffer | undefined {
  try {
    // It may be that of another namespace.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
    return hash('sha256', boot + readlinkSync('/proc/self/ns/pid'), 'buffer').subarray(0, sizes.machine)
  } catch {
    return undefined
  }
}

/** When a process was started, in ticks since the start of the kernel; `undefined` where none is seen, or it has ended. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name before these may hold anything (proc(5)): the state is field 3, the start field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return /^[ZX]/.test(fields[0] ?? 'X') ? undefined : Number(fields[19])
  } catch {
    return undefined
  }
}

/** Whether /proc hides a process of that id from this user. One of the same user is seen, unless it has ended. */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
