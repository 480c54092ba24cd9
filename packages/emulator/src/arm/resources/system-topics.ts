/** Which system topics may be written through Resource Manager, and what is shown of them. */
import { z } from 'zod'
import { isRecord } from '../../../../../src/support/text/json-text.ts'
import { asResourceId, type SystemTopic, sameName, stableGuid } from '../../model/resources/resource.ts'
import { findTopicType, typeNameOf } from '../../model/resources/topic-types.ts'
import { armErrors } from '../call/errors.ts'
import { parseArmScope } from '../call/path.ts'
import { parseBody } from '../call/resource-answers.ts'
import { identityMembers, keepLocation, resourceIdentity, storedResourcesOf } from './resources.ts'

const changeBody = z.object({
  tags: z.record(z.string(), z.string()).nullish(),
  identity: resourceIdentity.nullish(),
})
const putBody = changeBody.extend({
  location: z.string().min(1),
  properties: z.object({ source: z.string().startsWith('/'), topicType: z.string().min(1) }),
})

export const answerSystemTopics = storedResourcesOf({
  type: 'systemTopics',
  put({ store, call, id, name, subscriptionId, resourceGroup }, existing) {
    const body = parseBody(putBody, call, 'system topic')
    const { location } = body
    const { source, topicType } = body.properties
    if (!/^[A-Za-z0-9-]{3,128}$/.test(name)) throw armErrors.invalidRequest('Invalid system topic name.')
    keepLocation(existing, location)
    if (existing && !isSame(existing.source, source)) {
      throw armErrors.invalidRequest('System topic source cannot be modified.')
    }
    if (!existing && store.resources('systemTopics').some((one) => isSame(one.source, source))) {
      throw armErrors.invalidRequest(
        `There is an existing tracked system topic for the given source ${source}. Only one system topic is allowed per source.`,
      )
    }
    if (!fits(source, topicType)) {
      throw armErrors.invalidRequest(
        `The source ${source} does not fit the topic type ${topicType}. Source format can be found in topic type properties.`,
      )
    }
    return {
      type: 'systemTopics',
      ...{ id: existing?.id ?? id, name: existing?.name ?? name, subscriptionId, resourceGroup },
      location: existing?.location ?? location,
      source: existing?.source ?? source.replace(/\/$/, ''),
      topicType: existing?.topicType ?? topicType,
      ...settingsOf(body),
    }
  },
  patch({ call }, existing) {
    const settings = settingsOf(parseBody(changeBody, call, 'system topic'))
    return { ...existing, ...settings, shown: { ...existing.shown, ...settings.shown } }
  },
  // Without an identity there is nothing to wait for (recorded, CLI 2021, PowerShell 2024, .NET 2025).
  isImmediate: ({ shown }) => shown?.identity === undefined,
  view: (_options, _call, { source, topicType, shown, location, tags, id }) => ({
    ...(isRecord(shown?.identity) && { identity: { ...identityMembers, ...shown.identity } }),
    properties: { source, topicType, metricResourceId: stableGuid(`metrics of ${id}`) },
    location,
    tags: tags ?? null,
  }),
})

function settingsOf({ tags, identity }: z.infer<typeof changeBody>): Pick<SystemTopic, 'tags' | 'shown'> {
  return { ...(tags && { tags }), shown: { ...(identity && { identity }) } }
}

/**
 * Whether a source is one of its topic type: `Microsoft.Storage.StorageAccounts` is of the provider Microsoft.Storage, and its resource
 * type is storageAccounts.
 */
function fits(source: string, topicType: string): boolean {
  const id = asResourceId(source)
  const scopes = findTopicType(topicType)?.scopes
  if (scopes?.includes('ManagementGroup') && /^\/providers\/Microsoft\.Management\/managementGroups\/[^/]+$/i.test(id))
    return true
  const scope = parseArmScope(id)
  if (scope === undefined) return false
  return scopes ? scope.resourceGroup === undefined : sameName(typeNameOf(id), topicType)
}

const isSame = (one: string, other: string) => sameName(asResourceId(one), asResourceId(other))
