// Bicep files parse; the ARM template beside main.bicep makes an event subscription that the components of the examples work with.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Binding, parseComponents } from 'eventgrid-binding'
import { expect, it, onTestFinished } from 'vitest'
import { sendArm } from '../support/azure-clients.ts'
import { formatDotNet, parseBicep } from '../support/bicep.ts'
import { startEmulator } from '../support/start-emulator.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const here = join(import.meta.dirname, '../../examples')
const main = join(here, '../dist/src/sidecar/cli/main.js')
const runProgram = (...args: readonly string[]) => promisify(execFile)(process.execPath, [main, ...args])
const text = (file: string) => readFileSync(join(here, file), 'utf8')
const bicepFiles = globSync('**/*.bicep', { cwd: here })

it.each(bicepFiles)('%s is Bicep without an error of syntax', async (file) => {
  const tree = await parseBicep(text(file))
  const fault = tree.descendantsOfType('ERROR')[0]?.startPosition
  expect({ fault, broken: tree.hasError }).toEqual({ fault: undefined, broken: false })
})

interface Resource {
  readonly type: string
  readonly apiVersion: string
  readonly name: string
  readonly scope?: string
  readonly condition?: string
  readonly properties?: object
  readonly [field: string]: unknown
}

const template: {
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly defaultValue?: string }>>
  readonly variables: Readonly<Record<string, string>>
  readonly resources: readonly Resource[]
} = JSON.parse(text('bicep/main.json'))

it('main.json has the parameters and the resources of main.bicep', () => {
  const bicep = text('bicep/main.bicep')
  const names = [...bicep.matchAll(/^param (\w+)/gm)].map(([, name]) => name)
  expect(Object.keys(template.parameters)).toEqual(names)
  const made = [
    ...bicep.matchAll(/^resource \w+ '([^@]+)@([^']+)' = (?!\{\n {2}(?:parent: \w+\n {2})?name: \w+\n\}\n)/gm),
  ]
  const types = made
    .map(([, type, version]) => `${type} ${version}`)
    .filter((one) => !/storageAccounts( |\/blobServices )/.test(one))
  expect(template.resources.map(({ type, apiVersion }) => `${type} ${apiVersion}`)).toEqual(types)
})

/** What Resource Manager does with the expressions of a template, as far as this one has them. */
function evaluator(group: string, parameters: Readonly<Record<string, string>>) {
  const subscription = group.split('/resourceGroups')[0]
  const resourceId = (from: string, type: string, ...names: readonly string[]) => {
    const [provider, ...kinds] = type.split('/')
    return `${from}/providers/${provider}/${kinds.map((kind, at) => `${kind}/${names[at]}`).join('/')}`
  }
  const functions: Readonly<Record<string, (...given: readonly string[]) => string>> = {
    parameters: (name = '') => parameters[name] ?? value(template.parameters[name]?.defaultValue ?? ''),
    variables: (name = '') => value(template.variables[name] ?? ''),
    resourceId: (type = '', ...names) => resourceId(group, type, ...names),
    subscriptionResourceId: (type = '', ...names) => resourceId(`${subscription}`, type, ...names),
    format: (shape = '', ...parts) => formatDotNet(shape, parts),
    guid: (...parts) =>
      createHash('sha256')
        .update(parts.join())
        .digest('hex')
        .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-8$4-$5'),
    empty: (one) => String(one === ''),
    not: (one) => String(one !== 'true'),
  }
  function value(expression: string): string {
    return expression.startsWith('[') ? call(expression.slice(1, -1)) : expression
  }
  function call(source: string): string {
    const literal = /^'(.*)'$/.exec(source)
    if (literal) return literal[1] ?? ''
    const [, name = '', inside = ''] = /^(\w+)\((.*)\)$/.exec(source) ?? []
    const given = inside.match(/(?:'[^']*'|\w+\((?:[^()]|\([^()]*\))*\))/g) ?? []
    const found = functions[name]
    if (!found) throw new Error(`no function ${name}: ${source}`)
    return found(...given.map(call))
  }
  const all = (part: unknown): unknown => {
    if (typeof part === 'string') return value(part)
    if (Array.isArray(part)) return part.map(all)
    if (typeof part === 'object' && part !== null)
      return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, all(one)]))
    return part
  }
  return { value, all }
}

/** What `provision --show-token` prints as the value of the delivery attribute. */
async function showToken(file: string): Promise<string> {
  const secretsFile = join(temporaryFolder(), 'secrets.json')
  writeFileSync(secretsFile, JSON.stringify(secrets))
  const given = ['--component', 'orders', '--components', join(here, file), '--secrets', secretsFile]
  const { stdout } = await runProgram('provision', '--show-token', ...given)
  return stdout.trim().split('\n')[1] ?? ''
}

const group = '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/shop'
const secrets = { 'event-grid': { deliveryToken: 'a long random text', accessKey: 'Zmlyc3Qta2V5LW9mLW9yZGVycw==' } }

it.each(['bicep/component.yaml', 'container-apps/component.yaml'])(
  '%s receives and publishes with what main.json makes, and asks Azure for nothing',
  async (file) => {
    const emulator = await startEmulator({
      clients: [{ roles: [{ role: 'Owner' }] }],
      // main.json updates it, and keeps its keys.
      topics: [{ name: 'orders', keys: [secrets['event-grid'].accessKey, 'c2Vjb25kLWtleS1vZi1vcmRlcnM='] }],
      subscriptions: [{ id: '33333333-3333-4333-8333-333333333333', resourceGroups: ['shop'] }],
    })
    const [component] = parseComponents(text(file), { secrets })
    if (!component) throw new Error('no component')
    const received = Promise.withResolvers<unknown>()
    const binding = new Binding({
      endpoints: emulator.endpoints,
      onEvent: ({ cloudEvent }) => received.resolve(cloudEvent.type),
    })
    onTestFinished(() => binding.close())
    emulator.setIngress(({ pathname }) => `http://127.0.0.1:${binding.address()?.port}${pathname}`)
    // The port of the file may be taken on this machine.
    const given = { ...component, properties: { ...component.properties, handshakePort: '0' } }
    await binding.init(given)
    expect(emulator.records.requests.length).toBe(0)

    const deliveryCredential = await showToken(file)
    const { value, all } = evaluator(group, {
      ...{ subscriberEndpoint: 'https://orders.example.com/api/events', deliveryCredential },
      ...{ storageAccountName: 'ordersdead', location: 'westeurope' },
    })
    for (const { type, apiVersion, name, scope, condition, properties, location } of template.resources) {
      // The emulator has no storage accounts.
      if (type.startsWith('Microsoft.Storage/') || (condition && value(condition) !== 'true')) continue
      const path = `${scope ? value(scope) : group}/providers/${type}/${value(name)}?api-version=${apiVersion}`
      const body = JSON.stringify(all({ location, properties }))
      const answer = await sendArm(emulator, path, { method: 'PUT', body })
      expect([200, 201], path).toContain(answer.status)
    }
    const topic = `${group}/providers/Microsoft.EventGrid/topics/orders`
    await expect.poll(() => emulator.eventSubscription(topic, 'orders')?.provisioningState).toBe('Succeeded')

    const before = emulator.records.requests.length
    await binding.invoke('create', { order: 1 }, { metadata: { type: 'order.placed' } })
    expect(await received.promise).toBe('order.placed')
    await emulator.idle()
    const routes = [...emulator.records.requests].slice(before).map(({ route }) => route)
    expect(routes).toEqual(['topic'])
  },
)

it('the unit of systemd starts run with options that it has', async () => {
  const unit = text('systemd/eventgrid-binding.service')
  const [, command = ''] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit) ?? []
  const { stdout: help } = await runProgram('run', '--help')
  const options = command.slice(command.indexOf(' run ')).match(/--[\w-]+/g) ?? []
  expect(options.length).toBeGreaterThan(3)
  for (const option of options) expect(help).toContain(option)
})
