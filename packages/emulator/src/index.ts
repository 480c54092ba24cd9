/** What the package exports. */
import './require-node.ts'

export type { EventGridEmulatorOptions } from './config/options.ts'
export type {
  AzureSubscriptionOptions,
  ClientOptions,
  EventSubscriptionOptions,
  NamespaceOptions,
  NamespaceTopicOptions,
  QueueSubscriptionOptions,
  StorageOptions,
  SystemTopicOptions,
  TopicOptions,
} from './config/resource-fields.ts'
export { emulatorDefaults } from './config/resource-fields.ts'
export type { Connectable, ConnectOptions } from './connect.ts'
export type { DeadLetterStore } from './dead-letters/write-dead-letters.ts'
export { createBlobDeadLetterStore } from './dead-letters/write-dead-letters.ts'
export type { ProbationOptions } from './delivery/queue/retry-schedule.ts'
export type { Ingress, IngressRule } from './delivery/send/ingress.ts'
export {
  createStorageQueues,
  type StorageQueue,
  type StorageQueueResult,
  type StorageQueues,
} from './delivery/send/storage-queues.ts'
export type { EmulatorEndpoints } from './emulator-view.ts'
export { EventGridEmulator } from './event-grid-emulator.ts'
export type { NamespaceTopicView, StorageView, SystemTopicView, TopicView } from './model/resource-views.ts'
export type {
  EventSubscription,
  EventSubscriptionProperties,
  ProvisioningState,
} from './model/resources/event-subscription.ts'
export type { AccessKeys, Client, InputSchema, InputSchemaMapping, RoleGrant } from './model/resources/resource.ts'
export { type CancelTimer, type Clock, ManualClock, realClock } from './model/time/clock.ts'
export type { QueueFigures } from './namespaces/pull-queue.ts'
export type { TrailedAttempt } from './records/event-fate.ts'
export type { FigureName } from './records/figures.ts'
export type {
  DeadLetterRecord,
  DeliveryRecord,
  EventList,
  HandshakeRecord,
  PublishSummary,
  ReceiveSummary,
  Records,
  RequestRecord,
  RequestRoute,
  UntakenBy,
  WarningRecord,
} from './records/record-types.ts'
export type { RecordRing } from './records/records.ts'
export type { Fault, FaultRoute } from './server/faults.ts'
export { EmulatorStateError } from './state/state-file.ts'
export type { EmulatorEnvironment, EnvironmentLanguage, LanguageEnvironment } from './test-interface/environment.ts'
export type {
  DeadLetter,
  PublishedEvent,
  PublishedEvents,
  SubscriptionFate,
} from './test-interface/published-events.ts'
export type { EventQuery, ResetOptions } from './test-interface/requests.ts'
