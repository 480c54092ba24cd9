/** A probe: one claim about Azure, which a row of the facts table makes; what to ask, and what should be seen. */
import type { Made, MadeTopic } from '../make/made.ts'
import type { PushEndpoint, PushListener } from '../push/listener.ts'
import type { Arm } from '../wire/arm.ts'
import type { Target } from '../wire/target.ts'
import type { Send, WireAnswer } from '../wire/wire.ts'
import type { WireClock } from '../wire/wire-clock.ts'
import type { Pattern } from './expectation.ts'

/** What a probe needs beside the topics. Without it the probe is skipped by name. */
export type Need =
  | 'storage'
  | 'namespace'
  | 'namespace dead letters'
  | 'push'
  | 'application'
  | 'own region in the host'

export interface Probe {
  /** Id of the row of the facts table. */
  readonly fact: string
  /** What is asked, in a few words; with the fact it names the probe. */
  readonly asks: string
  readonly needs?: readonly Need[]
  /** Where the expectation is from, where it is not from what the row of the fact names. */
  readonly source?: string
  /** What was seen. Rejects where no answer came, which is a difference too. */
  readonly ask: (world: ProbeWorld) => Promise<unknown>
  readonly expected: Pattern | ((world: ProbeWorld) => Pattern)
}

/** What probes ask with. Each has its own, so that its exchanges are recorded together. */
export interface ProbeWorld {
  readonly target: Target
  readonly made: Made
  readonly arm: Arm
  readonly send: Send
  readonly clock: WireClock
  readonly signal: AbortSignal
  /** A name that no other probe has, with the suffix of the run. */
  unique(): string
  /** The id of an event subscription of a source; deleted with the source. */
  subscriptionAt(source: string, name?: string): string
  /** The id of a resource of Event Grid in the group, to be deleted after the probe. */
  ownResource(type: string, prefix?: string): string
  /** What has the tag of the run, beside what the probe wants: the body of a PUT. */
  tagged(body?: object): object
  /** A queue of its own in the storage account. */
  openQueue(): Promise<ProbeQueue>
  /** A URL of its own, which the tunnel leads to. */
  openPush(options?: Parameters<PushListener['open']>[0]): PushEndpoint
  /** A public URL whose requests go to a port of this machine, until the probe has ended. */
  openForward(port: () => number | undefined): string
  /** Runs a command of the product as a process of its own. */
  runCommand(...args: readonly string[]): Promise<CommandEnd>
  /** A folder of the probe, removed after it. */
  folder(): string
  readonly application: string
  readonly container: string
  listBlobs(prefix: string): Promise<readonly string[]>
  readBlob(name: string): Promise<unknown>
  publish(topic: MadeTopic, events: unknown, headers?: Readonly<Record<string, string>>): Promise<WireAnswer>
  /** Calls the data plane of the namespace: `topics/NAME:publish`. */
  namespace(
    path: string,
    options?: {
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
      readonly limitMs?: number
    },
  ): Promise<WireAnswer>
  /** Waits until something is there, for a time; `undefined` where it did not come. */
  until<T>(limitMs: number, ask: () => Promise<T | undefined> | T | undefined): Promise<T | undefined>
  pause(ms: number): Promise<void>
}

/** How a command of the product has ended. */
export interface CommandEnd {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface ProbeQueue {
  readonly name: string
  /** Destination of an event subscription. */
  readonly destination: object
  /** The events of the messages that came so far, oldest first. */
  events(): Promise<readonly unknown[]>
  /** Waits for so many events. */
  wait(count: number, limitMs?: number): Promise<readonly unknown[]>
  remove(): Promise<void>
  /** Makes it again under the same name, as soon as Azure lets it. */
  makeAgain(): Promise<void>
}

type Question = Omit<Probe, 'fact' | 'asks'>

export const probe = (fact: string, asks: string, question: Question): Probe => ({ fact, asks, ...question })

/** Probes that all need the same. */
export const probesWith =
  (...needs: readonly Need[]) =>
  (fact: string, asks: string, question: Question): Probe => ({ fact, asks, needs, ...question })
