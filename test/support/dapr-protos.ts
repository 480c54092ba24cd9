import { resolve } from 'node:path'
import { loadSync, type ServiceDefinition } from '@grpc/proto-loader'

const folder = resolve(import.meta.dirname, '../../node_modules/@dapr/dapr/proto')

/** Dapr's own definitions of its runtime API, from its SDK: ours must agree with them. */
export const daprDefinitions = loadSync(
  ['dapr', 'appcallback'].map((name) => `dapr/proto/runtime/v1/${name}.proto`),
  { includeDirs: [folder], defaults: true },
)

/** A service of Dapr's runtime API. */
export function daprService(name: string): ServiceDefinition {
  const definition = daprDefinitions[`dapr.proto.runtime.v1.${name}`]
  if (!definition || 'format' in definition) throw new Error(`there is no service ${name}`)
  // A message definition has `format`, which the compiler does not narrow by: a service may have a method of that name.
  return definition as ServiceDefinition
}
