import type { Scope } from '../metadata/scope.ts'
import type { ArmReader } from '../subscription/arm-reader.ts'
import { isRecord } from '../support/is-record.ts'
import { readFinding } from './arm-finding.ts'
import { ok, warning } from './finding.ts'
import type { Check } from './run-checks.ts'
import type { InputWorld } from './world.ts'

const id = 'azure/scope'

/** Known API versions (Azure: api-versions of Microsoft.Resources and Microsoft.EventGrid). */
const apiVersions = { subscription: '2022-12-01', resources: '2021-04-01', eventGrid: '2022-06-15' } as const

/** Checks that the resource of `scope` exists. */
export function scopeCheck(world: InputWorld): Check {
  const { scope } = world.input
  return {
    id,
    needs: ['azure/credential'],
    async run(signal) {
      const context = world.explainedBy()
      const arm = world.arm()
      let apiVersion: string | undefined
      try {
        apiVersion = await apiVersionOf(scope, arm, signal)
      } catch (error) {
        return readFinding(error, id, context, `the types of ${'provider' in scope ? scope.provider : 'the provider'}`)
      }
      if (apiVersion === undefined)
        return warning(`whether ${scope.id} exists is not known: ARM names no version of its type`)
      try {
        await arm.get(scope.id, apiVersion, signal)
        return ok(`${scope.id} exists`)
      } catch (error) {
        return readFinding(error, id, context, scope.id)
      }
    },
  }
}

/** The API version for a resource. Each type has its own; the provider lists them. */
async function apiVersionOf(scope: Scope, arm: ArmReader, signal: AbortSignal): Promise<string | undefined> {
  if (scope.kind === 'subscription') return apiVersions.subscription
  if (scope.kind === 'resourceGroup') return apiVersions.resources
  if (scope.provider.toLowerCase() === 'microsoft.eventgrid') return apiVersions.eventGrid
  const provider = await arm.get(
    `/subscriptions/${scope.subscriptionId}/providers/${scope.provider}`,
    apiVersions.resources,
    signal,
  )
  const types = isRecord(provider) && Array.isArray(provider.resourceTypes) ? provider.resourceTypes : []
  const wanted = scope.path.map(({ type }) => type.toLowerCase()).join('/')
  const found: unknown = types.find((type) => isRecord(type) && String(type.resourceType).toLowerCase() === wanted)
  const versions = isRecord(found) && Array.isArray(found.apiVersions) ? found.apiVersions : []
  return versions
    .filter((version) => typeof version === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(version))
    .sort()
    .at(-1)
}
