/** What the product itself does: its binding receives and publishes, and its commands end well. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Binding } from '../../../src/index.ts'
import { present } from '../probes/expectation.ts'
import { type CommandEnd, type Probe, type ProbeWorld, probesWith } from '../probes/probe.ts'
import { cloudEvent, forType, idsOf, loudNameOf, subscribe } from '../probes/tables/asking.ts'
import { deadLettersOf, deadLetterTo } from '../probes/tables/dead-letters.ts'
import { publish } from '../probes/tables/pull.ts'

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

interface Opened {
  readonly binding: Binding
  readonly handled: readonly string[]
}

/** Opens a binding for the time of some work. */
async function withBinding<T>(
  world: ProbeWorld,
  fields: Readonly<Record<string, string>>,
  work: (opened: Opened) => Promise<T>,
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

/** The same for one that is pushed to. */
async function pushed<T>(
  world: ProbeWorld,
  work: (opened: Opened & { readonly fields: ReturnType<typeof pushFields>; readonly type: string }) => Promise<T>,
): Promise<T> {
  let current: Binding | undefined
  const url = `${world.openForward(() => current?.address()?.port)}/api/events`
  const type = world.unique()
  const fields = pushFields(world, url, type)
  const opened = (binding: Binding) => {
    current = binding
  }
  return withBinding(world, fields, (one) => work({ ...one, fields, type }), opened)
}

const anyHandled = ({ until }: ProbeWorld, { handled }: Opened) =>
  until(eventLimitMs, () => (handled.length > 0 ? true : undefined))

export const productProbes: readonly Probe[] = [
  probesWith('push')('product', 'init of a binding, create, and the delivery', {
    ask: (world) =>
      pushed(world, async ({ type, ...opened }) => {
        const { binding, handled } = opened
        const { ids } = await binding.invoke('create', { amount: 5 }, { metadata: { type } })
        await anyHandled(world, opened)
        return { health: binding.health().status, same: ids[0] === handled[0], count: handled.length }
      }),
    expected: { health: 'healthy', same: true, count: 1 },
  }),
  probesWith('push')('product', 'check and provision beside a running binding', {
    ask: (world) =>
      pushed(world, async ({ fields, binding }) => {
        const file = writeComponent(world.folder(), { ...fields, handshakePort: String(binding.address()?.port) })
        const check = await world.runCommand('check', '--components', file, '--only', 'files,azure,topic', '--json')
        const provision = await world.runCommand('provision', '--components', file, '--dry-run', '--json')
        return { check: check.code, provision: provision.code, why: whyOf(check, provision) }
      }),
    expected: { check: 0, provision: 0, why: '' },
  }),
  probesWith('namespace')('product', 'a binding that pulls', {
    async ask(world) {
      const { made, unique } = world
      const type = unique()
      const fields = {
        ...{ azureCredential: 'default', deliveryMode: 'pull', namespaceTopic: made.namespace?.topicId ?? '' },
        ...{ namespaceEndpoint: made.namespace?.endpoint ?? '', namespaceKey: made.namespace?.key ?? '' },
        ...{ subscriptionId: made.place.subscriptionId, eventSubscriptionName: unique(), includedEventTypes: type },
      }
      return withBinding(world, fields, async (opened) => {
        await publish(world, cloudEvent(type))
        await anyHandled(world, opened)
        return { handled: opened.handled }
      })
    },
    expected: { handled: ['one'] },
  }),
  probesWith('storage')('product', 'replay of a dead letter', {
    async ask(world) {
      const { made, openQueue, unique, folder } = world
      const [gone, stays] = [await openQueue(), await openQueue()]
      const type = unique()
      const retryPolicy = { maxDeliveryAttempts: 1, eventTimeToLiveInMinutes: 60 }
      const id = await subscribe(world, forType(type, gone.destination, { ...deadLetterTo(world), retryPolicy }))
      await subscribe(world, forType(type, stays.destination))
      await gone.remove()
      await world.publish(made.cloud, [cloudEvent(type)])
      const letter = await deadLettersOf(world, `${loudNameOf(id)}/`)
      const letters = join(folder(), 'dead-letters')
      mkdirSync(letters)
      writeFileSync(join(letters, 'letter.json'), JSON.stringify(letter.content ?? []))
      const file = writeComponent(folder(), { topicEndpoint: made.cloud.endpoint, accessKey: made.cloud.key })
      const replay = await world.runCommand('replay', '--components', file, '--component', 'probe', letters)
      const events = await stays.wait(2)
      return { code: replay.code, ids: idsOf(events), letter: letter.name, why: whyOf(replay) }
    },
    expected: { code: 0, ids: ['one', 'one'], letter: present, why: '' },
  }),
]

/** What commands say, where one of them fails. */
const whyOf = (...ends: readonly CommandEnd[]) =>
  ends.every(({ code }) => code === 0) ? '' : ends.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('')
