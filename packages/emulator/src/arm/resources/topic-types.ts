// Answers of `topicTypes` and `eventTypes`: display names, descriptions, default set.
import { requireEventGridVersion } from '../call/api-versions.ts'
import type { ArmAnswer, ArmCall, ArmResources } from '../call/call.ts'
import { armErrors } from '../call/errors.ts'
import type { TargetOf } from '../call/path.ts'
import { answerList, authorizeCall } from '../call/resource-answers.ts'
import { findTopicType, type TopicType, topicTypeOf, topicTypes } from './event-types.ts'

/** The kinds of sources of Azure, and their event types. Any caller may read them. */
export function answerTopicTypes(call: ArmCall, target: TargetOf<'topicTypes'>): ArmAnswer {
  requireEventGridVersion(call, 'topicTypes')
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  if (target.name === undefined) return answerList(call, topicTypes, viewTopicType)
  const type = findTopicType(target.name)
  if (!type) throw armErrors.topicTypeNotFound(target.name)
  return target.eventTypes
    ? { status: 200, body: { value: viewEventTypes(type) } }
    : { status: 200, body: viewTopicType(type) }
}

export function answerEventTypes(resources: ArmResources, call: ArmCall, { scope }: TargetOf<'eventTypes'>): ArmAnswer {
  const action = 'Microsoft.EventGrid/eventTypes/read'
  authorizeCall(resources, call, { scope, type: 'eventTypes', action, at: scope })
  if (call.method !== 'GET') throw armErrors.methodNotAllowed(call.method, 'GET')
  const type = findTopicType(topicTypeOf(scope))
  return { status: 200, body: { value: type ? viewEventTypes(type) : [] } }
}

function viewTopicType({ name, displayName, description, isGlobal }: TopicType) {
  return {
    properties: {
      provider: name.split('.').slice(0, -1).join('.'),
      displayName,
      description,
      resourceRegionType: isGlobal ? 'GlobalResource' : 'RegionalResource',
      provisioningState: 'Succeeded',
    },
    id: `providers/Microsoft.EventGrid/topicTypes/${name}`,
    name,
    type: 'Microsoft.EventGrid/topicTypes',
  }
}

function viewEventTypes({ name, byDefault, onDemand = [] }: TopicType) {
  return [...byDefault, ...onDemand].map((eventType) => {
    const displayName = (eventType.split('.').at(-1) ?? '').replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    return {
      properties: {
        displayName,
        description: `Event of the type ${eventType}.`,
        schemaUrl: 'tbd',
        isInDefaultSet: byDefault.includes(eventType),
      },
      id: `providers/Microsoft.EventGrid/topicTypes/${name}/eventTypes/${eventType}`,
      name: eventType,
      type: 'Microsoft.EventGrid/topicTypes/eventTypes',
    }
  })
}
