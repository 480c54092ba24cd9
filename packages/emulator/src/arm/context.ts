/** What the calls of Resource Manager read and change. */
import type { Namespace } from '../model/resources/namespace.ts'
import type { ArmResources } from './call/call.ts'
import type { Operations } from './call/operations.ts'
import type { NamespaceContents } from './resources/namespace-contents.ts'
import type { Provisioning } from './subscriptions/provisioning.ts'

export interface ArmContext extends ArmResources, NamespaceContents {
  readonly clock: ArmResources['clock']
  readonly operations: Operations
  readonly provisioning: Provisioning
  /** Answer 409 to a change of an event subscription while another one runs. */
  readonly conflicts: boolean
  /** The URL that events are posted to. */
  readonly endpointOf: (published: { readonly label: string }) => string
  /** The host name that a namespace's clients use. */
  readonly hostnameOf: (namespace: Namespace) => string
}
