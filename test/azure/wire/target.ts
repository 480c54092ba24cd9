/** Where the requests go: Azure's public cloud, or an emulator. All else is the same for both. */
import type { TokenCredential } from '@azure/core-auth'
import { createCredential } from '../../../src/azure/credential.ts'
import { type Endpoints, endpointsFromEnvironment } from '../../../src/core/endpoints.ts'
import { azureEnvironments } from '../../../src/metadata/fields/addresses.ts'
import { resourceManagerOf } from '../../../src/provision/arm.ts'
import { emulatorEndpoints } from '../../../src/sidecar/cli/options/emulator-option.ts'

export interface EmulatorAddress {
  readonly url: string
  readonly ca: string | undefined
}

export interface Target {
  /** How the report names it. */
  readonly name: 'Azure' | 'emulator'
  /** Where it answers; `undefined` for Azure. */
  readonly emulator: EmulatorAddress | undefined
  readonly endpoints: Endpoints
  /** Base URL of Resource Manager, without a slash at its end. */
  readonly resourceManager: string
  readonly resourceManagerScope: string
  /** Of topics and namespaces. */
  readonly dataScope: string
  /** The DefaultAzureCredential of `@azure/identity`, as `azureCredential: default` of a component gives it. */
  readonly credential: TokenCredential
}

const environment = azureEnvironments.AzurePublicCloud

/** Resolves the target; rejects with a UsageError where no emulator answers at the address. */
export async function targetOf(
  emulator: EmulatorAddress | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Target> {
  const endpoints = emulator ? await emulatorEndpoints(emulator) : endpointsFromEnvironment(env)
  return {
    name: emulator ? 'emulator' : 'Azure',
    emulator,
    endpoints,
    resourceManager: resourceManagerOf(endpoints, environment),
    resourceManagerScope: environment.resourceManagerScope,
    dataScope: 'https://eventgrid.azure.net/.default',
    credential: createCredential(
      { kind: 'default', tenantId: undefined, clientId: undefined },
      { environment, endpoints },
    ),
  }
}
