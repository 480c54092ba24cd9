// Terraform, or OpenTofu, on the emulator: applies, changes and destroys the examples, and finds no difference in between.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { blockOf } from '../support/language-blocks.ts'
import { openConsentingWebhook } from './consenting-webhook.ts'
import { cacheOf, caFile } from './places.ts'
import { runProgram } from './program.ts'
import { lastLine } from './python-environment.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

interface Provider {
  readonly name: 'azapi' | 'azurerm'
  /** As in `required_providers`. */
  readonly source: string
  /** Its Go module and version. Absent: it takes too long, so it is used where somebody has built it into the cache. */
  readonly module?: string
}

const providers = join(cacheOf('terraform'), 'providers')
const binaryOf = ({ name }: Provider) => join(providers, `terraform-provider-${name}`)

function witnessOf(provider: Provider): Witness {
  return {
    name: `Terraform with ${provider.name}`,
    prepare: () => prepare(provider),
    run: () => wholeLife(provider),
  }
}

/** Azure's provider of what Resource Manager has. It builds in a minute. */
export const terraformAzapi = witnessOf({
  name: 'azapi',
  source: 'azure/azapi',
  module: 'github.com/Azure/terraform-provider-azapi@v1.15.0',
})

/** HashiCorp's provider. `CGO_ENABLED=0 go build` in its repository takes a quarter of an hour and 4 GB. */
export const terraformAzurerm = witnessOf({ name: 'azurerm', source: 'hashicorp/azurerm' })

/** The command that is on this machine. */
async function findCommand(): Promise<string | undefined> {
  for (const command of ['terraform', 'tofu']) {
    if ((await runProgram(command, ['version'])).code === 0) return command
  }
  return undefined
}

async function prepare(provider: Provider): Promise<{ missing?: string }> {
  if ((await findCommand()) === undefined) return { missing: 'there is neither terraform nor tofu' }
  if (existsSync(binaryOf(provider))) return {}
  if (provider.module === undefined) return { missing: `${binaryOf(provider)} is not there` }
  await mkdir(providers, { recursive: true })
  const built = await runProgram('go', ['install', provider.module], { env: { GOBIN: providers, CGO_ENABLED: '0' } })
  return built.code === 0 ? {} : { missing: `${provider.module} can't be built: ${lastLine(built)}` }
}

async function wholeLife(provider: Provider): Promise<readonly Step[]> {
  const command = await findCommand()
  assert.ok(command)
  await using webhook = await openConsentingWebhook()
  await using emulator = await EventGridEmulator.start({
    ingress: [{ from: 'https://orders.example.com/', to: webhook.to }],
    clients: [{ roles: [{ role: 'Owner' }] }],
    operationRetryAfter: 1,
  })
  const folder = await mkdtemp(join(tmpdir(), 'terraform-'))
  try {
    await copyFile(
      join(import.meta.dirname, '../../examples/terraform', provider.name, 'main.tf'),
      join(folder, 'main.tf'),
    )
    const settings = `provider_installation {\n  dev_overrides {\n    "${provider.source}" = "${providers}"\n  }\n  direct {}\n}\n`
    await writeFile(join(folder, 'cli.tfrc'), settings)
    const env = await environmentOf(provider, emulator, folder)
    const run = async (action: string, ...args: readonly string[]) => {
      const { code, stdout, stderr } = await runProgram(command, [action, '-no-color', '-input=false', ...args], {
        cwd: folder,
        env,
      })
      assert.equal(code, 0, `${stderr}\n${stdout.slice(-2000)}`)
    }
    const changed = ['-var', 'event_types=["order.placed"]']
    const types = () => emulator.eventSubscriptions().map(({ properties }) => properties.filter?.includedEventTypes)
    return [
      await takeStep('it applies the example', async () => {
        await run('apply', '-auto-approve')
        assert.deepEqual(types(), [['order.placed', 'order.paid']])
      }),
      await takeStep('its plan finds no difference', () => run('plan', '-detailed-exitcode')),
      await takeStep('it applies a change', async () => {
        await run('apply', '-auto-approve', ...changed)
        assert.deepEqual(types(), [['order.placed']])
      }),
      await takeStep('its plan finds no difference after it', () => run('plan', '-detailed-exitcode', ...changed)),
      await takeStep('it destroys all', async () => {
        await run('destroy', '-auto-approve')
        assert.deepEqual(types(), [])
      }),
    ]
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** What the emulator's page has for the provider, set by the shell; and what the examples take as variables. */
async function environmentOf(provider: Provider, emulator: EventGridEmulator, folder: string) {
  const { tenantId, clientId, subscriptionId, proxy } = emulator
  const account = `/subscriptions/${subscriptionId}/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/orders`
  const [client] = emulator.clients()
  emulator.caFile = await caFile('terraform', emulator.ca)
  const isAzapi = provider.name === 'azapi'
  const lines = blockOf('Terraform', 'sh', isAzapi ? 1 : 0).replaceAll('http://127.0.0.1:4431', proxy)
  const { code, stdout, stderr } = await runProgram('sh', ['-ec', `${lines}\nenv`], {
    env: emulator.environment().languages.go.variables,
  })
  assert.equal(code, 0, stderr)
  const fromPage = [...stdout.matchAll(/^(ARM_\w+|HTTPS_PROXY|SSL_CERT_FILE)=(.*)$/gm)]
  return {
    ...Object.fromEntries(fromPage.map(([, name, value]) => [name, value])),
    TF_CLI_CONFIG_FILE: join(folder, 'cli.tfrc'),
    CHECKPOINT_DISABLE: '1',
    NO_PROXY: isAzapi ? '' : '*',
    TF_VAR_principal_id: client?.objectId ?? '',
    TF_VAR_dead_letter_account_id: account,
    ...(isAzapi
      ? { TF_VAR_subscription_id: subscriptionId, TF_VAR_tenant_id: tenantId, TF_VAR_client_id: clientId }
      : { TF_VAR_delivery_token: 'key-id.token' }),
  }
}
