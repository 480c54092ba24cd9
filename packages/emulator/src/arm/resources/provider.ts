// Register and unregister Microsoft.EventGrid: `registrationState`, listed resource types and locations; the list of providers.
import type { AzureSubscription } from '../../entra/directory.ts'
import { type ArmAnswer, type ArmCall, type ArmResources, requireAccess } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { answerList } from '../call/resource-answers.ts'

const readAction = 'Microsoft.Resources/subscriptions/providers/read'
const resourceTypes = ['domains', 'systemTopics', 'topics', 'namespaces', 'eventSubscriptions']

/** The resource provider Microsoft.EventGrid of an Azure subscription: its registration, and register or unregister. */
export function answerProvider(resources: ArmResources, call: ArmCall, target: TargetOf<'provider'>): ArmAnswer {
  const action = target.action ? `${target.namespace}/${target.action}/action` : readAction
  const { azure } = requireAccess(resources, call, action, target.scope)
  if (target.namespace.toLowerCase() !== 'microsoft.eventgrid') throw armErrors.notSupported(target.namespace)
  const wanted = target.action ? 'POST' : 'GET'
  if (call.method !== wanted) throw armErrors.methodNotAllowed(call.method, wanted)
  const registers = target.action === 'register'
  if (target.action) azure.registration = registers ? 'Registered' : 'Unregistered'
  // The answer always shows the state during the change.
  const during = registers ? 'Registering' : 'Unregistering'
  return { status: 200, body: viewEventGrid(azure, target.action ? during : azure.registration) }
}

/** The resource providers of an Azure subscription that the emulator has. */
export function answerProviders(resources: ArmResources, call: ArmCall, { scope }: TargetOf<'providers'>): ArmAnswer {
  const { azure } = requireAccess(resources, call, readAction, scope)
  const always = ['Microsoft.Resources', 'Microsoft.Authorization'].map((namespace) => ({
    id: `/subscriptions/${azure.id}/providers/${namespace}`,
    namespace,
    registrationPolicy: 'RegistrationFree',
    registrationState: 'Registered',
    resourceTypes: [],
  }))
  return answerList(call, [viewEventGrid(azure, azure.registration), ...always], (provider) => provider)
}

function viewEventGrid({ id }: AzureSubscription, registrationState: string) {
  return {
    id: `/subscriptions/${id}/providers/Microsoft.EventGrid`,
    namespace: 'Microsoft.EventGrid',
    registrationPolicy: 'RegistrationRequired',
    registrationState,
    resourceTypes: resourceTypes.map((resourceType) => ({
      resourceType,
      locations: [resourceType === 'eventSubscriptions' ? 'global' : 'West Europe'],
      apiVersions: ['2025-02-15', '2022-06-15'],
    })),
  }
}
