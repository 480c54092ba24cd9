/** What the interface asks of an emulator: members of `EventGridEmulator`, so that both doors do the same by the same code. */
import type { RoleGrant } from '../model/resources/client.ts'
import type { Fault } from '../server/faults.ts'
import type { DeadLetter } from './dead-letters.ts'
import type { EmulatorEnvironment } from './environment.ts'
import type { EventQuery, PublishedEvents } from './published-events.ts'
import type { RequestRoute, ShownRequest } from './shown-requests.ts'

/** What may be reset besides events, queues, records and faults. */
export interface ResetOptions {
  /**
   * Whether topics, event subscriptions, clients and roles become those that the options declare: what was changed or deleted comes back,
   * what was made besides is removed. @default false
   */
  readonly resources?: boolean | undefined
}

export interface TestedEmulator {
  readonly clientId: string
  events(query: EventQuery): PublishedEvents
  deadLetters(): readonly DeadLetter[]
  requests(query: { readonly route?: RequestRoute | undefined }): readonly ShownRequest[]
  settled(options: { readonly timeout: number }): Promise<void>
  reset(options: ResetOptions): Promise<void>
  failNext(fault: Fault): void
  clearFaults(): void
  advance(ms: number): Promise<number>
  raise(source: string, events: readonly unknown[]): void
  roles(clientId?: string): readonly RoleGrant[]
  assignRole(clientId: string, role: string, scope?: string): void
  removeRole(clientId: string, role: string, scope?: string): void
  removeRoles(clientId: string): void
  assertion(clientId?: string): Promise<string>
  rotateKeys(options: { readonly forget?: boolean }): Promise<void>
  environment(): EmulatorEnvironment
}
