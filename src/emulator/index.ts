import './require-node.ts'

export { createBlobDeadLetterStore } from './blob-dead-letter-store.ts'
export { type CancelTimer, type Clock, ManualClock, realClock } from './clock.ts'
export type { DeadLetterStore } from './dead-letter.ts'
export type { DeliveryOptions } from './delivery-options.ts'
export { type EmulatorEndpoints, EventGridEmulator, type TopicView } from './emulator.ts'
export type { Fault, FaultRoute } from './faults.ts'
export type { Ingress, IngressRule } from './ingress.ts'
export type {
  EventSubscription,
  EventSubscriptionProperties,
  InputSchema,
  InputSchemaMapping,
  ProvisioningState,
} from './model.ts'
export {
  type AzureSubscriptionOptions,
  type Client,
  type ClientOptions,
  type EventGridEmulatorOptions,
  type EventSubscriptionOptions,
  emulatorDefaults,
  type RoleGrant,
  type TopicOptions,
} from './options.ts'
export type { ProbationOptions } from './probation.ts'
export type { DeadLetterRecord, DeliveryRecord, HandshakeRecord, Records, RequestRecord } from './record-types.ts'
export type { RecordRing } from './records.ts'
export { EmulatorStateError } from './state-file.ts'
