import './core/require-node.ts'

export { Binding } from './binding/binding.ts'
export type {
  BindingComponent,
  BindingComponentOptions,
  ComponentAnswer,
  GivenComponent,
  InitOptions,
  InvokeAnswer,
  InvokeOptions,
  ListenAddress,
  SidesOption,
  UpdateOptions,
} from './binding/binding-component.ts'
export type { BindingOptions, GivenOperation } from './binding/binding-options.ts'
export { type ComponentDescriptor, component, type EventGridDescriptor } from './binding/component.ts'
export type {
  ComponentDocument,
  GivenMetadata,
  Metadata,
  MetadataFields,
  NamedMetadata,
} from './binding/given-metadata.ts'
export type {
  ComponentHealth,
  Health,
  HealthStatus,
  InputHealth,
  SideHealth,
  UnhealthyCause,
} from './binding/health.ts'
export {
  type EventRouter,
  type Fallback,
  type RouteOptions,
  routeEvents,
  type SchemaResult,
  type StandardSchema,
  type SystemEventName,
} from './binding/route-events.ts'
export type { Component, ComponentPlaces, ComponentProperties, FilePlace, Side } from './core/component.ts'
export type { Endpoints } from './core/endpoints.ts'
export {
  BindingError,
  type BindingErrorCode,
  type BindingErrorDetails,
  type BindingErrorParts,
  bindingErrorCodes,
  type FilesDetails,
  isBindingError,
  type MetadataIssue,
  type PayloadDetails,
  type PortDetails,
  type ProvisioningDetails,
  type PublishDetails,
} from './core/errors.ts'
export { type CloudEvent, type ErrorHandler, type EventHandler, type ReceivedEvent, RejectEvent } from './core/event.ts'
export { type LogFields, type Logger, type ObjectFirstLogger, objectFirst } from './core/logger.ts'
export { Secret } from './core/secret.ts'
export type { FastifyHook } from './listener/listener.ts'
export type { SecretReference } from './metadata/component/component-file.ts'
export type { MetadataField } from './metadata/fields/find-field.ts'
export type { Reader } from './metadata/fields/needs.ts'
export {
  type LoadComponentsOptions,
  loadComponents,
  type ParseComponentsOptions,
  parseComponents,
} from './metadata/load/load-components.ts'
export type { Secrets } from './metadata/load/secret-stores.ts'
export type { SecretsByStore } from './metadata/load/secrets.ts'
export type { PullCounts } from './receiver/pull-counts.ts'
export type { SchemaIssue } from './support/process/error-code.ts'
