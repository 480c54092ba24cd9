/** What a run has made, as probes use it. */
import type { Names, Place } from '../plan/names.ts'
import type { Need } from '../probes/probe.ts'

export interface MadeTopic {
  readonly id: string
  readonly name: string
  /** Where events are posted, without a query. */
  readonly endpoint: string
  readonly key: string
}

export interface MadeStorage {
  readonly id: string
  readonly blobs: string
  readonly queues: string
  /** The query that lets who has it read, write and list. */
  readonly signature: string
}

export interface MadeNamespace {
  readonly id: string
  /** `https://HOST`, without a slash at its end. */
  readonly endpoint: string
  readonly key: string
  readonly topic: string
  readonly topicId: string
  /** A Queue event subscription that gets all events of the topic. */
  readonly queue: string
}

export interface Made {
  readonly place: Place
  readonly names: Names
  readonly cloud: MadeTopic
  readonly grid: MadeTopic
  readonly domain: MadeTopic
  readonly storage: MadeStorage | undefined
  readonly namespace: MadeNamespace | undefined
  /** Why a need can't be met. */
  readonly missing: ReadonlyMap<Need, string>
}
