import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { builtProgram } from '../support/built-program.ts'
import { firstLine, peakMemory, startProcess } from './child-process.ts'
import type { HostConfiguration } from './host-process.ts'
import type { OnEnd } from './network.ts'

/** A host process. */
export interface Host {
  readonly process: ChildProcess
  /** Its port, `receiving` with pull delivery, or the code of the error that kept it from starting. */
  readonly said: string
  readonly exited: Promise<unknown>
  /** The most memory it ever had, in bytes; NaN where the system does not tell. */
  peakMemory(): number
}

/** The host runs the build, with the flag that the shipped command starts with. */
const hostProgram = builtProgram(`${import.meta.dirname}/host-process.ts`)

/** Starts a host, and resolves when it has said how that went. */
export async function startHost(configuration: HostConfiguration, onEnd: OnEnd): Promise<Host> {
  const process = startProcess(onEnd, ['--max-semi-space-size=4', hostProgram, JSON.stringify(configuration)])
  const exited = once(process, 'exit')
  return { process, said: await firstLine(process), exited, peakMemory: () => peakMemory(process) }
}
