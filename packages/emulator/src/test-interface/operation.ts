/** What an operation of the interface is: its request and its answer, and what it may ask of an emulator. */
import type { z } from 'zod'
import type { EventSubscriptionOptions } from '../config/resource-fields.ts'
import type { EventSubscription } from '../model/resources/event-subscription.ts'
import type { RoleGrant } from '../model/resources/resource.ts'
import type { ReadonlyDeep } from '../model/schemas.ts'
import type { RequestRecord, RequestRoute } from '../records/record-types.ts'
import type { Fault } from '../server/faults.ts'
import type * as answers from './answers.ts'
import type { EmulatorEnvironment } from './environment.ts'
import type { LiveSources, LiveView } from './live-view.ts'
import type { DeadLetter, PublishedEvents } from './published-events.ts'
import type { EventQuery, ResetOptions } from './requests.ts'

/** Members of `EventGridEmulator`, so that both doors do the same by the same code. */
export interface TestedEmulator {
  readonly clientId: string
  events(query: EventQuery): PublishedEvents
  deadLetters(): readonly DeadLetter[]
  requests(query: { readonly route?: RequestRoute | undefined }): readonly RequestRecord[]
  settled(options: { readonly timeout: number }): Promise<void>
  reset(options: ResetOptions): Promise<void>
  failNext(fault: Fault): void
  clearFaults(): void
  advance(ms: number): Promise<number>
  addEventSubscription(options: EventSubscriptionOptions): Promise<{ readonly id: string }>
  eventSubscription(scope: string, name: string): EventSubscription | undefined
  removeEventSubscription(scope: string, name: string): void
  raise(source: string, events: readonly unknown[]): void
  roles(clientId?: string): readonly RoleGrant[]
  assignRole(clientId: string, role: string, scope?: string): void
  removeRole(clientId: string, role: string, scope?: string): void
  removeRoles(clientId: string): void
  assertion(clientId?: string): Promise<string>
  rotateKeys(options: { readonly forget?: boolean }): Promise<void>
  environment(): EmulatorEnvironment
}

/** What the emulator has and does at this moment, and what can be done with its events. */
export interface Live {
  readonly sources: LiveSources
  /** What the stream's first message tells. */
  readonly state: () => ReadonlyDeep<z.output<typeof answers.stateAnswer>>
  readonly figures: LiveView['figures']
  readonly subscriptions: LiveView['subscriptions']
  readonly search: LiveView['search']
  /** Publishes by the topic's own route. */
  readonly publish: (topic: string, text: string) => Promise<z.output<typeof answers.publishAnswer>>
}

/** What an operation is given. */
export interface Call<Query, Body> {
  readonly emulator: TestedEmulator
  /** Whether too many events are pending to take more. */
  readonly isFull: () => boolean
  /** What the path names: a topic, an event subscription, or the key of an event; empty for a path that names none. */
  readonly name: string
  readonly live: Live
  readonly query: Query
  readonly body: Body
  /** The OpenAPI document. */
  readonly document: () => { readonly openapi: string }
}

interface Described {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** With `{name}` or `{key}` for what it names. */
  readonly path: string
  readonly id: string
  readonly summary: string
  /** Whether the request must have its body. @default it may be left out, as if it were `{}` */
  readonly needsBody?: true
  /** The longest body, in bytes. @default 65_536 */
  readonly bodyLimit?: number
  /** What statuses of its own mean, beside those of all operations. */
  readonly refusals?: Readonly<Record<number, string>>
  /** Whether the answer is a stream of server-sent events, which has no end. */
  readonly isStream?: true
  /** The status of a RangeError of the emulator, such as one for an unknown name. @default 400 */
  readonly unknown?: 400 | 404
}

/** An operation, ready to be served and described. */
export interface TestOperation extends Described {
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** Without one the answer is 204. */
  readonly answer?: z.ZodType
  run(call: Call<unknown, unknown>): unknown
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined
type Answered<Schema> = Schema extends z.ZodType ? ReadonlyDeep<z.output<Schema>> : unknown

/** Ties the types of what goes in and comes out to the schemas. */
export function operation<
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Answer extends z.ZodType | undefined = undefined,
>(
  described: Described & {
    readonly query?: Query
    readonly body?: Body
    readonly answer?: Answer
    run(call: Call<Parsed<Query>, Parsed<Body>>): Answered<Answer> | Promise<Answered<Answer>>
  },
): TestOperation {
  // The query and the body that `run` gets were parsed by the schemas beside it.
  return described as unknown as TestOperation
}
