// Register and unregister Microsoft.EventGrid: `registrationState`, listed resource types and locations.
import { type ArmAnswer, type ArmCall, type ArmResources, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'

/** The resource provider Microsoft.EventGrid of an Azure subscription: its registration, and register or unregister. */
export function answerProvider(resources: ArmResources, call: ArmCall, target: TargetOf<'provider'>): ArmAnswer {
  const action = target.action
    ? `${target.namespace}/${target.action}/action`
    : 'Microsoft.Resources/subscriptions/providers/read'
  const { azure } = requireAccess(resources, call, action, target.scope)
  if (target.namespace.toLowerCase() !== 'microsoft.eventgrid') throw armErrors.invalidNamespace(target.namespace)
  const wanted = target.action ? 'POST' : 'GET'
  if (call.method !== wanted) throw armErrors.methodNotAllowed(call.method, wanted)
  const registers = target.action === 'register'
  if (target.action) azure.registration = registers ? 'Registered' : 'Unregistered'
  // The answer always shows the state during the change.
  const during = registers ? 'Registering' : 'Unregistering'
  return {
    status: 200,
    body: {
      id: `/subscriptions/${azure.id}/providers/Microsoft.EventGrid`,
      namespace: 'Microsoft.EventGrid',
      registrationPolicy: 'RegistrationRequired',
      registrationState: target.action ? during : azure.registration,
      resourceTypes: ['domains', 'systemTopics', 'topics', 'eventSubscriptions'].map((resourceType) => ({
        resourceType,
        locations: [resourceType === 'eventSubscriptions' ? 'global' : 'West Europe'],
        apiVersions: ['2025-02-15', '2022-06-15'],
      })),
    },
  }
}
