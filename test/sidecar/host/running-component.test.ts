import { expect, it, onTestFinished, vi } from 'vitest'
import type { AppChannel, EventAnswer, Probed } from '../../../src/sidecar/host/app/app-channel.ts'
import { createComponent, untakenEvents } from '../../../src/sidecar/host/running-component.ts'
import { createMetrics } from '../../../src/sidecar/shared/metrics.ts'
import { captureLog } from '../../support/captured-log.ts'
import { componentFile } from '../../support/component-folder.ts'
import { eventually } from '../../support/eventually.ts'
import { loadTexts } from '../../support/load-texts.ts'
import { publisherFile, startQueue } from './open-sidecar.ts'

type Given = Awaited<ReturnType<typeof startQueue>>

/** A component that receives, and an application that says what a test has it say; the last answer to a probe stays. */
async function open({
  more = {},
  probes = [{ kind: 'subscribed' }],
  deliver = async () => undefined,
}: {
  more?: Readonly<Record<string, string>>
  probes?: (Probed | Promise<Probed>)[]
  deliver?: AppChannel['deliver']
} = {}) {
  const world: Given = await startQueue()
  const log = captureLog()
  const metrics = createMetrics()
  const asked: string[] = []
  const published: EventAnswer[] = []
  const channel: AppChannel = {
    addressOf: ({ name, route }) => `${name} at ${route}`,
    refusal: (address, status) => `${address} is refused with ${status}`,
    async probe(address) {
      asked.push(address)
      const [next = { kind: 'subscribed' }] = probes.length > 1 ? probes.splice(0, 1) : probes
      return next
    },
    deliver,
    reachable: async () => true,
    healthy: async () => true,
    close() {},
  }
  const load = (fields: Readonly<Record<string, string>>) => {
    const [loaded] = loadTexts({
      'orders.yaml': componentFile('orders', { ...world.fields, ...fields }),
    }).components.values()
    if (!loaded) throw new Error('no component')
    return loaded
  }
  const first = load(more)
  const component = createComponent(first, {
    channel,
    logger: log,
    metrics,
    endpoints: world.emulator.endpoints,
    publishAnswer: async (answer) => void published.push(answer),
  })
  onTestFinished(() => component.close())
  await component.openOutput()
  await component.open(first)
  return {
    component,
    published,
    asked,
    change: (fields: Readonly<Record<string, string>>) => component.open(load(fields)),
    said: (part: string) => log.lines.filter(({ message }) => message.includes(part)).map(({ message }) => message),
    log,
    create: (data: unknown) => component.invoke('create', data, { metadata: {} }),
    counted: async (result: string) =>
      new RegExp(`_events_total\\{component="orders",result="${result}"\\} [1-9]`).test(await metrics.text()),
    metrics,
  }
}

it('says what happens to events that nobody takes, by how they come', async () => {
  const files = { 'a.yaml': componentFile('a', (await startQueue()).fields), 'b.yaml': publisherFile('b') }
  expect([...loadTexts(files).components.values()].map(untakenEvents)).toEqual([
    'no events are received, and Event Grid keeps them',
    'deliveries get 503, and Event Grid sends them again',
  ])
})

it('asks the application again until it takes events, and says each reason once', async () => {
  const refused = (status: number): Probed => ({ kind: 'refused', status })
  const unreachable: Probed = { kind: 'unreachable', why: 'ECONNRESET' }
  const probes: Probed[] = [
    ...[refused(404), refused(404), refused(500), { kind: 'silent' } as const, unreachable],
    ...[unreachable, { kind: 'subscribed' } as const],
  ]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { component, asked, said } = await open({ probes })
  expect(asked).toEqual([])
  component.appIsUp(true)
  component.appIsUp(true)
  // The pause doubles from 100 ms up to five seconds.
  for (const [index, pauseMs] of [100, 200, 400, 800, 1_600, 3_200].entries()) {
    await vi.advanceTimersByTimeAsync(pauseMs - 1)
    expect(asked).toHaveLength(index + 1)
    await vi.advanceTimersByTimeAsync(1)
    expect(asked).toHaveLength(index + 2)
  }
  const until = '. Until then no events are received, and Event Grid keeps them'
  expect(said('Until then')).toEqual([
    `orders at undefined is refused with 404${until}`,
    `orders at undefined is refused with 500${until}`,
    `the application does not answer in 3 s whether it takes events at orders at undefined${until}`,
    `the application can't be reached at orders at undefined (ECONNRESET)${until}`,
  ])
  expect(said('events go to')).toEqual(['events go to the application at orders at undefined'])
})

it('asks no more once the application is down or the component drains', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { component, asked } = await open({ probes: [{ kind: 'silent' }] })
  component.appIsUp(true)
  await vi.advanceTimersByTimeAsync(0)
  component.appIsUp(false)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked).toHaveLength(1)
  component.appIsUp(true)
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toHaveLength(2)
  vi.useRealTimers()
  await component.drain()
  component.appIsUp(false)
  component.appIsUp(true)
  expect(asked).toHaveLength(2)
})

it('takes nothing where the application goes down before it has said whether it takes events, and asks again', async () => {
  const { promise, resolve: answer } = Promise.withResolvers<Probed>()
  const { component, asked, said } = await open({ probes: [promise, { kind: 'subscribed' }] })
  component.appIsUp(true)
  component.appIsUp(false)
  answer({ kind: 'subscribed' })
  await new Promise(setImmediate)
  expect([asked.length, said('events go to')]).toEqual([1, []])
  component.appIsUp(true)
  await eventually(() => expect(said('events go to')).toHaveLength(1))
})

it('asks nothing where direction says that events come in', async () => {
  const { component, asked, said } = await open({ more: { direction: 'input, output' } })
  component.appIsUp(true)
  await eventually(() => expect(said('events go to')).toHaveLength(1))
  expect(asked).toEqual([])
})

it('asks again where the address has changed, not where something else has', async () => {
  const { component, asked, change, said } = await open({ more: { Route: '/one' } })
  component.appIsUp(true)
  await eventually(() => expect(said('events go to')).toHaveLength(1))
  await change({ Route: '/one', publishTimeout: '3s' })
  component.appIsUp(true)
  await change({ route: '/two' })
  component.appIsUp(true)
  await eventually(() => expect(said('events go to')).toHaveLength(2))
  expect(asked).toEqual(['orders at /one', 'orders at /two'])
})

it('counts an event as acknowledged, and publishes what the application answers', async () => {
  const answer = { to: ['parcels'], data: Buffer.from('1'), isParallel: false }
  const delivered: string[] = []
  const { component, published, create, counted } = await open({
    async deliver(address, { metadata }) {
      delivered.push(`${address} ${metadata['aeg-delivery-count']}`)
      return answer
    },
  })
  component.appIsUp(true)
  await create('one')
  await eventually(async () => expect(await counted('acknowledged')).toBe(true))
  expect([published, delivered]).toEqual([[answer], ['orders at undefined 0']])
  expect(component.figures()).toMatchObject({ name: 'orders', inFlight: 0 })
})

it('counts an event as failed, and as acknowledged once it is delivered again', async () => {
  let deliveries = 0
  const { component, create, counted } = await open({
    async deliver() {
      if (deliveries++ === 0) throw new Error('no')
      return undefined
    },
  })
  component.appIsUp(true)
  await create('one')
  await eventually(async () => expect(await counted('acknowledged')).toBe(true))
  expect(await counted('failed')).toBe(true)
})

it('counts an event as abandoned whose time is over, and tells that it is in flight until then', async () => {
  const inFlight: unknown[] = []
  const opened = await open({
    more: { handlerTimeout: '200ms' },
    deliver: (_address, { signal }) => {
      inFlight.push(opened.component.figures().inFlight)
      if (inFlight.length > 1) return Promise.resolve(undefined)
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
  })
  opened.component.appIsUp(true)
  await opened.create('one')
  await eventually(async () => expect(await opened.counted('acknowledged')).toBe(true))
  expect(await opened.counted('abandoned')).toBe(true)
  expect(inFlight.slice(0, 2)).toEqual([1, 1])
  expect(opened.component.figures().inFlight).toBe(0)
  expect(opened.published).toEqual([])
})

it('counts a call that fails by its code, and one that succeeds; logs each cause once', async () => {
  const { component, create, metrics, log } = await open()
  await create('one')
  for (const _ of [1, 2])
    await expect(create({ specversion: '1.0' })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
  await expect(create('x'.repeat(1_100_000))).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  const text = await metrics.text()
  for (const [code, count] of Object.entries({ OK: 1, PAYLOAD_INVALID: 2, PAYLOAD_TOO_LARGE: 1 })) {
    expect(text).toContain(`eventgrid_binding_invokes_total{component="orders",code="${code}"} ${count}`)
  }
  const failures = log.lines.filter(({ level, message }) => level === 'warn' && message === 'create failed')
  expect(failures.map(({ fields }) => fields?.code)).toEqual(['PAYLOAD_INVALID', 'PAYLOAD_TOO_LARGE'])
  expect(component.operations()).toEqual(['create'])
  expect(component.port()).toBeUndefined()
})
