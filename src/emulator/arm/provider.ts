import { type ArmAnswer, type ArmCall, type ArmResources, requireAction, resolveScope } from './call.ts'
import { armErrors } from './errors.ts'
import type { ArmTarget } from './path.ts'

const transientStates = new Map<string | undefined, string>([
  ['register', 'Registering'],
  ['unregister', 'Unregistering'],
])

/** The resource provider Microsoft.EventGrid of an Azure subscription: its registration, and register or unregister. */
export function answerProvider(
  resources: ArmResources,
  call: ArmCall,
  target: Extract<ArmTarget, { kind: 'provider' }>,
): ArmAnswer {
  const action = target.action
    ? `${target.namespace}/${target.action}/action`
    : 'Microsoft.Resources/subscriptions/providers/read'
  const { azure } = resolveScope(resources, call, target.scope, action)
  requireAction(resources, call, action, target.scope)
  if (target.namespace.toLowerCase() !== 'microsoft.eventgrid') {
    const message = `The resource namespace '${target.namespace}' is invalid.`
    throw armErrors.invalidNamespace(message)
  }
  const wanted = target.action ? 'POST' : 'GET'
  if (call.method !== wanted) throw armErrors.methodNotAllowed(call.method, wanted)
  if (target.action) azure.registration = target.action === 'register' ? 'Registered' : 'Unregistered'
  return {
    status: 200,
    body: {
      id: `/subscriptions/${azure.id}/providers/Microsoft.EventGrid`,
      namespace: 'Microsoft.EventGrid',
      registrationPolicy: 'RegistrationRequired',
      // The answer of `register` always shows the state during the change.
      registrationState: transientStates.get(target.action) ?? azure.registration,
      resourceTypes: [
        { resourceType: 'domains', locations: ['West Europe'], apiVersions: ['2025-02-15', '2022-06-15'] },
        { resourceType: 'systemTopics', locations: ['West Europe'], apiVersions: ['2025-02-15', '2022-06-15'] },
        { resourceType: 'topics', locations: ['West Europe'], apiVersions: ['2025-02-15', '2022-06-15'] },
        { resourceType: 'eventSubscriptions', locations: ['global'], apiVersions: ['2025-02-15', '2022-06-15'] },
      ],
    },
  }
}
