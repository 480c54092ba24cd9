import { expect, it, onTestFinished } from 'vitest'
import type { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { Binding, type EventHandler } from '../../../src/index.ts'
import { openPull, order } from '../../support/open-pull.ts'
import { openWorld } from '../../support/open-world.ts'
import { quickenTime } from '../../support/quick-time.ts'
import { refusal } from '../../support/refusal.ts'

/** A handler that does its work once `release` is called. */
function heldHandler(work: EventHandler) {
  const [received, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const done = Promise.withResolvers<void>()
  const handler: EventHandler = async (event) => {
    received.resolve()
    await released.promise
    try {
      await work(event)
      done.resolve()
    } catch (error) {
      done.reject(error)
      throw error
    }
  }
  done.promise.catch(() => {})
  return { handler, received: received.promise, release: released.resolve, done: done.promise }
}

/** The statuses of what was published to topics. */
const publishesOf = (emulator: EventGridEmulator) =>
  emulator.records.requests.all().flatMap(({ route, status }) => (route === 'topic' ? [status] : []))

/** A binding that gets one event by push, or by pull, and publishes to a topic of its own. */
const ways = {
  async push(handler: EventHandler, more: Record<string, string> = {}) {
    const { binding, emulator, init, fields } = await openWorld({
      emulator: { topics: [{ name: 'orders' }, { name: 'answers' }] },
      binding: { onEvent: handler },
    })
    const { endpoint: topicEndpoint, key: accessKey } = emulator.topic('answers')
    await init({ topicEndpoint, accessKey, ...more })
    emulator.raise(fields.scope ?? '', [order('one')])
    return {
      binding,
      emulator,
      isAcknowledged: () => emulator.records.deliveries.waitFor(({ status }) => status === 200),
    }
  },
  async pull(handler: EventHandler, more: Record<string, string> = {}) {
    const { binding, emulator, publish, byKey } = await openPull({
      emulator: { topics: [{ name: 'answers' }] },
      binding: { onEvent: handler },
    })
    const { endpoint: topicEndpoint, key: accessKey } = emulator.topic('answers')
    await binding.init({ ...byKey, topicEndpoint, accessKey, ...more })
    await publish(order('one'))
    return {
      binding,
      emulator,
      async isAcknowledged() {
        expect([...emulator.queues().values()]).toEqual([{ available: 0, locked: 0, delayed: 0 }])
      },
    }
  },
}

it.each(['push', 'pull'] as const)(
  'by %s, a handler publishes until it returns, though close was called; then nobody does',
  async (way) => {
    const held = heldHandler(() => binding.invoke('create', { answer: 1 }))
    const opened = await ways[way](held.handler)
    const { binding, emulator } = opened
    await held.received
    const closed = binding.close()
    // Who works for the handler, a web server of the same process for instance.
    await binding.invoke('create', { answer: 'from elsewhere' })
    held.release()
    await held.done
    await closed
    expect(publishesOf(emulator)).toEqual([200, 200])
    await opened.isAcknowledged()
    expect((await refusal(binding.invoke('create', {}))).code).toBe('CLOSED')
    await binding.close()
  },
)

it.each(['push', 'pull'] as const)('by %s, is closed for a handler that outlives handlerTimeout', async (way) => {
  quickenTime()
  const held = heldHandler(() => binding.invoke('create', { answer: 1 }))
  const { binding, emulator } = await ways[way](held.handler, { handlerTimeout: '1s' })
  await held.received
  await binding.close()
  held.release()
  expect((await refusal(held.done)).code).toBe('CLOSED')
  expect(publishesOf(emulator)).toEqual([])
})

it('is closed for calls from elsewhere at once where no handler runs', async () => {
  const { binding, init } = await openWorld()
  await init()
  const closed = binding.close()
  expect((await refusal(binding.invoke('create', {}))).code).toBe('CLOSED')
  await closed
})

it('lets a handler publish while init waits for the event subscription, and while that init is closed', async () => {
  const held = heldHandler(() => binding.invoke('create', { answer: 1 }))
  const { binding, emulator, fields, init } = await openWorld({
    emulator: { topics: [{ name: 'orders' }, { name: 'answers' }] },
    binding: { onEvent: held.handler },
  })
  const { endpoint: topicEndpoint, key: accessKey } = emulator.topic('answers')
  const before = new Binding({ endpoints: emulator.endpoints })
  onTestFinished(() => before.close())
  emulator.setIngress(
    ({ pathname }) => `http://127.0.0.1:${(binding.address() ?? before.address())?.port ?? 1}${pathname}`,
  )
  await before.init({ ...fields, topicEndpoint, accessKey })
  await before.close()
  emulator.failNext({ route: 'arm', times: 1_000, status: 503, retryAfter: 60 })
  const initialised = refusal(init({ topicEndpoint, accessKey }))
  await expect.poll(() => binding.address()).toBeDefined()
  emulator.raise(fields.scope ?? '', [order('one')])
  await held.received
  await binding.invoke('create', { answer: 'before it is closed' })
  const closed = binding.close()
  held.release()
  await held.done
  await closed
  expect((await initialised).code).toBe('CLOSED')
  expect(publishesOf(emulator)).toEqual([200, 200])
})

it('closes though the credential of the host never answers, and takes no event meanwhile', async () => {
  const asked = Promise.withResolvers<void>()
  const getToken = () => {
    asked.resolve()
    return new Promise<never>(() => {})
  }
  const { binding, fields } = await openWorld({ binding: { credential: { getToken } } })
  const { tenantId: _tenant, clientId: _client, ...rest } = fields
  await binding.init(rest, { subscription: 'background' })
  await asked.promise
  const port = binding.address()?.port
  const closed = binding.close()
  const answer = await fetch(`http://127.0.0.1:${port}/api/events`, { method: 'OPTIONS' }).catch(() => undefined)
  expect(answer?.status ?? 503).toBe(503)
  await closed
})
