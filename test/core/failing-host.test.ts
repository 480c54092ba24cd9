import { context, metrics, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { type SpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { Binding, type Logger, type ReceivedEvent } from '../../src/index.ts'
import { seededRandom } from '../faults/seeded-random.ts'
import { eventually } from '../support/eventually.ts'
import { order, queue } from '../support/open-pull.ts'
import { tryWorlds } from '../support/random-worlds.ts'

/** Parts of a host that may fail at any call. */
const parts = ['spans', 'processors', 'meters', 'logger'] as const

interface Script {
  readonly seed: number
  readonly failing: readonly (typeof parts)[number][]
  /** How often a call fails. */
  readonly share: number
}

/** How a call of the host fails: before its work, after it, or later. */
type Failure = 'before' | 'after' | 'rejects' | undefined

/** The same object, of which each method may fail, and so may each method of what a method gives. */
function hostile<T extends object>(target: T, roll: () => Failure): T {
  return new Proxy(target, {
    get(of, name) {
      const member: unknown = Reflect.get(of, name)
      if (typeof member !== 'function') return member
      return (...given: readonly unknown[]): unknown => {
        const failure = roll()
        if (failure === 'before') throw new Error('the host failed before')
        const result: unknown = Reflect.apply(member, of, given)
        if (failure === 'after') throw new Error('the host failed after')
        if (failure === 'rejects') return Promise.reject(new Error('the host failed later'))
        return typeof result === 'object' && result !== null && !('_currentContext' in result)
          ? hostile(result, roll)
          : result
      }
    },
  })
}

const nothing = () => {}

function startHost({ seed, failing, share }: Script): Logger {
  const random = seededRandom(seed)
  const rollFor = (part: (typeof parts)[number], ways: readonly Failure[]) => () =>
    failing.includes(part) && random() < share ? ways[Math.floor(random() * ways.length)] : undefined
  const all = ['before', 'after', 'rejects'] as const
  const processor: SpanProcessor = {
    onStart: nothing,
    onEnd: nothing,
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const spanProcessors = [hostile(processor, rollFor('processors', ['before']))]
  const throws = ['before', 'after'] as const
  trace.setGlobalTracerProvider(hostile(new TracerProvider({ spanProcessors }), rollFor('spans', throws)))
  metrics.setGlobalMeterProvider(hostile(new MeterProvider(), rollFor('meters', throws)))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  return hostile<Logger>({ debug: nothing, info: nothing, warn: nothing, error: nothing }, rollFor('logger', all))
}

async function live(script: Script): Promise<void> {
  const logger = startHost(script)
  const emulator = await EventGridEmulator.start({ namespaces: queue })
  const topic = emulator.namespaceTopic('orders')
  const pushed: ReceivedEvent[] = []
  const pulled: ReceivedEvent[] = []
  const push = new Binding({
    endpoints: emulator.endpoints,
    logger,
    onEvent: async (event) => void pushed.push(event),
    onError: () => Promise.reject(new Error('the host failed later')),
  })
  const pull = new Binding({ endpoints: emulator.endpoints, logger, onEvent: (event) => void pulled.push(event) })
  try {
    await emulator.connect(push, { topic: 'orders' })
    const { tenantId, clientId, clientSecret } = emulator
    await pull.init({
      deliveryMode: 'pull',
      namespaceTopic: topic.id,
      tenantId,
      clientId,
      clientSecret,
      eventSubscriptionName: 'app',
    })
    const ids = Array.from({ length: 12 }, (_, index) => `event-${index}`)
    const creates = ids.map((id) => push.invoke('create', { ...order(id) }))
    expect((await Promise.all(creates)).map((answer) => answer.ids)).toEqual(ids.map((id) => [id]))
    await expect(push.invoke('create', { specversion: '1.0' })).rejects.toMatchObject({ code: 'PAYLOAD_INVALID' })
    const response = await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`, {
      method: 'POST',
      headers: {
        authorization: `SharedAccessKey ${topic.key}`,
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      },
      body: JSON.stringify(ids.map((id) => order(id))),
    })
    expect(response.status).toBe(200)
    await emulator.settled()
    const idsOf = (events: readonly ReceivedEvent[]) => events.map(({ cloudEvent }) => cloudEvent.id).toSorted()
    expect(idsOf(pushed)).toEqual(ids.toSorted())
    expect(emulator.records.deliveries.all().map(({ status }) => status)).toEqual(ids.map(() => 200))
    await eventually(() => expect(idsOf(pulled)).toEqual(ids.toSorted()))
    expect([push.health().status, pull.health().status]).toEqual(['healthy', 'healthy'])
  } finally {
    await Promise.all([push.close(), pull.close()])
    await emulator.close()
    for (const api of [trace, metrics, context]) api.disable()
  }
}

it('a host whose telemetry and logger fail at each call loses nothing, and every answer is true', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown) => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  process.on('uncaughtException', hear)
  onTestFinished(() => {
    process.off('unhandledRejection', hear)
    process.off('uncaughtException', hear)
  })
  const script = fc.record({
    seed: fc.nat(),
    failing: fc.subarray([...parts], { minLength: 1 }),
    share: fc.constantFrom(0.1, 0.5, 1),
  })
  const known = [
    { seed: 1, failing: [...parts], share: 1 },
    ...parts.map((part) => ({ seed: 1, failing: [part], share: 1 })),
  ]
  await tryWorlds(script, { count: 10, known }, live)
  expect(unheard).toEqual([])
}, 120_000)
