/** Check `azure/scope`: does the resource exist? */
import { eventGridApiVersion, resourceApiVersions } from '../../../../core/api-versions.ts'
import { isRecord } from '../../../../support/text/is-record.ts'
import type { AzureResource } from '../../context/azure-resource.ts'
import { readFinding } from '../../report/arm-finding.ts'
import { type Finding, ok, warning } from '../../report/finding.ts'

export async function checkScope(resource: AzureResource, signal: AbortSignal): Promise<Finding> {
  const { scope } = resource
  let asked = 'provider' in scope ? `the types of ${scope.provider}` : scope.id
  try {
    const apiVersion = await apiVersionOf(resource, signal)
    if (apiVersion === undefined)
      return warning(`whether ${scope.id} exists is not known: ARM names no version of its type`)
    asked = scope.id
    await resource.readArm(scope.id, apiVersion, signal)
    return ok(`${scope.id} exists`)
  } catch (error) {
    return readFinding(error, resource.explainedBy(), asked)
  }
}

/** The API version for a resource. Each type has its own; the provider lists them. */
async function apiVersionOf({ scope, readArm }: AzureResource, signal: AbortSignal): Promise<string | undefined> {
  if (scope.kind === 'subscription') return resourceApiVersions.subscriptions
  if (scope.kind === 'resourceGroup') return resourceApiVersions.resources
  if (scope.provider.toLowerCase() === 'microsoft.eventgrid') return eventGridApiVersion
  const path = `/subscriptions/${scope.subscriptionId}/providers/${scope.provider}`
  const provider = await readArm(path, resourceApiVersions.resources, signal)
  const types = isRecord(provider) && Array.isArray(provider.resourceTypes) ? provider.resourceTypes : []
  const wanted = scope.path.map(({ type }) => type.toLowerCase()).join('/')
  const found: unknown = types.find((type) => isRecord(type) && String(type.resourceType).toLowerCase() === wanted)
  const versions = isRecord(found) && Array.isArray(found.apiVersions) ? found.apiVersions : []
  return versions
    .filter((version) => typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version))
    .sort()
    .at(-1)
}
