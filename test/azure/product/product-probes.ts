/** What the product itself does: its binding receives and publishes, and its commands end well. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Binding } from '../../../src/index.ts'
import { present } from '../probes/expectation.ts'
import { type Probe, type ProbeWorld, probe } from '../probes/probe.ts'
import { cloudEvent, forType, idsOf, subscribe } from '../probes/tables/asking.ts'
import { deadLettersOf, deadLetterTo } from '../probes/tables/dead-letters.ts'

const eventLimitMs = 120_000

/** Fields of a component, as YAML. */
function writeComponent(folder: string, fields: Readonly<Record<string, string>>): string {
  const file = join(folder, 'probe.yaml')
  const metadata = Object.entries(fields).map(([name, value]) => ({ name, value }))
  const component = {
    ...{ apiVersion: 'dapr.io/v1alpha1', kind: 'Component', metadata: { name: 'probe' } },
    spec: { type: 'bindings.azure.eventgrid', version: 'v1', metadata },
  }
  // JSON is YAML. The folder is this run's own, and holds a key for as long as the probe lasts.
  writeFileSync(file, JSON.stringify(component), { mode: 0o600 })
  return file
}

/** The metadata of a component that receives by push and publishes; its credential is that of the run. */
function pushFields({ made, unique }: ProbeWorld, subscriberEndpoint: string, type: string) {
  return {
    ...{ azureCredential: 'default', subscriptionId: made.place.subscriptionId, scope: made.cloud.id },
    ...{ subscriberEndpoint, handshakePort: '0', eventSubscriptionName: unique(), includedEventTypes: type },
    ...{ deliveryToken: randomUUID(), topicEndpoint: made.cloud.endpoint, accessKey: made.cloud.key },
  }
}

/** Opens a binding for the time of some work. */
async function withBinding<T>(
  world: ProbeWorld,
  fields: Readonly<Record<string, string>>,
  work: (opened: { readonly binding: Binding; readonly handled: readonly string[] }) => Promise<T>,
  opened: (binding: Binding) => void = () => {},
): Promise<T> {
  const handled: string[] = []
  const binding = new Binding({
    endpoints: world.target.endpoints,
    onEvent: async ({ cloudEvent: { id } }) => void handled.push(id),
  })
  opened(binding)
  try {
    await binding.init(fields, { signal: world.signal })
    return await work({ binding, handled })
  } finally {
    await binding.close()
  }
}

async function pushed<T>(
  world: ProbeWorld,
  work: (opened: {
    readonly binding: Binding
    readonly handled: readonly string[]
    readonly fields: Readonly<Record<string, string>>
    readonly type: string
  }) => Promise<T>,
): Promise<T> {
  let current: Binding | undefined
  const url = `${world.openForward(() => current?.address()?.port)}/api/events`
  const type = world.unique()
  const fields = pushFields(world, url, type)
  return withBinding(
    world,
    fields,
    ({ binding, handled }) => work({ binding, handled, fields, type }),
    (binding) => {
      current = binding
    },
  )
}

export const productProbes: readonly Probe[] = [
  probe({
    fact: 'product',
    asks: 'init of a binding, create, and the delivery',
    needs: ['push'],
    ask: (world) =>
      pushed(world, async ({ binding, handled, type }) => {
        const { ids } = await binding.invoke('create', { amount: 5 }, { metadata: { type } })
        await world.until(eventLimitMs, () => (handled.length > 0 ? true : undefined))
        return { health: binding.health().status, same: ids[0] === handled[0], count: handled.length }
      }),
    expected: { health: 'healthy', same: true, count: 1 },
  }),
  probe({
    fact: 'product',
    asks: 'check and provision beside a running binding',
    needs: ['push'],
    ask: (world) =>
      pushed(world, async ({ fields, binding }) => {
        const file = writeComponent(world.folder(), { ...fields, handshakePort: String(binding.address()?.port) })
        const check = await world.runCommand('check', '--components', file, '--only', 'files,azure,topic', '--json')
        const provision = await world.runCommand('provision', '--components', file, '--dry-run', '--json')
        return {
          check: check.code,
          provision: provision.code,
          why:
            check.code === 0 && provision.code === 0
              ? ''
              : `${check.stdout}${check.stderr}${provision.stdout}${provision.stderr}`,
        }
      }),
    expected: { check: 0, provision: 0, why: '' },
  }),
  probe({
    fact: 'product',
    asks: 'a binding that pulls',
    needs: ['namespace'],
    async ask(world) {
      const { made, unique } = world
      const type = unique()
      const fields = {
        ...{ azureCredential: 'default', deliveryMode: 'pull', namespaceTopic: made.namespace?.topicId ?? '' },
        ...{ namespaceEndpoint: made.namespace?.endpoint ?? '', namespaceKey: made.namespace?.key ?? '' },
        ...{ subscriptionId: made.place.subscriptionId, eventSubscriptionName: unique(), includedEventTypes: type },
      }
      return withBinding(world, fields, async ({ handled }) => {
        await world.namespace(`topics/${made.namespace?.topic}:publish`, {
          body: cloudEvent(type),
          headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
        })
        await world.until(eventLimitMs, () => (handled.length > 0 ? true : undefined))
        return { handled }
      })
    },
    expected: { handled: ['one'] },
  }),
  probe({
    fact: 'product',
    asks: 'replay of a dead letter',
    needs: ['storage'],
    async ask(world) {
      const { made, openQueue, unique, folder, publish } = world
      const [gone, stays] = [await openQueue(), await openQueue()]
      const type = unique()
      const retryPolicy = { maxDeliveryAttempts: 1, eventTimeToLiveInMinutes: 60 }
      const id = await subscribe(world, forType(type, gone.destination, { ...deadLetterTo(world), retryPolicy }))
      await subscribe(world, forType(type, stays.destination))
      await gone.remove()
      await publish(made.cloud, [cloudEvent(type)])
      const letter = await deadLettersOf(world, `${id.slice(id.lastIndexOf('/') + 1).toUpperCase()}/`)
      const letters = join(folder(), 'dead-letters')
      mkdirSync(letters)
      writeFileSync(join(letters, 'letter.json'), JSON.stringify(letter.content ?? []))
      const file = writeComponent(folder(), { topicEndpoint: made.cloud.endpoint, accessKey: made.cloud.key })
      const { code, stdout, stderr } = await world.runCommand(
        'replay',
        '--components',
        file,
        '--component',
        'probe',
        letters,
      )
      const events = await stays.wait(2)
      return { code, ids: idsOf(events), letter: letter.name, why: code === 0 ? '' : stdout + stderr }
    },
    expected: { code: 0, ids: ['one', 'one'], letter: present, why: '' },
  }),
]
