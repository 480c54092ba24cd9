import { expect, onTestFinished } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../packages/emulator/src/index.ts'
import { Binding, type BindingOptions, type ReceivedEvent } from '../../src/index.ts'
import { captureLog } from './captured-log.ts'

/** A CloudEvent of a shop. */
export const order = (id: string, more: object = {}) => ({
  specversion: '1.0',
  id,
  source: '/shop',
  type: 'order.placed',
  data: { article: 'lamp', big: 1 },
  ...more,
})

export const queue = [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app' }] }] }]
interface PullWorldOptions {
  readonly emulator?: EventGridEmulatorOptions
  readonly binding?: BindingOptions
  /** Without a handler. */
  readonly silent?: boolean
}

/** An emulator with the namespace topic `orders`, and a binding that is not yet initialised. */
export async function openPull({ emulator: emulatorOptions, binding: bindingOptions, silent }: PullWorldOptions = {}) {
  const emulator = await EventGridEmulator.start({ namespaces: queue, ...emulatorOptions })
  const log = captureLog()
  const events: ReceivedEvent[] = []
  const binding = new Binding({
    endpoints: emulator.endpoints,
    logger: log,
    ...(!silent && { onEvent: (event: ReceivedEvent) => void events.push(event) }),
    ...bindingOptions,
  })
  onTestFinished(async () => {
    await binding.close()
    await emulator.close()
  })
  const topic = emulator.namespaceTopic('orders')
  const publish = async (...published: readonly object[]) => {
    const response = await fetch(`${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`, {
      method: 'POST',
      headers: {
        authorization: `SharedAccessKey ${topic.key}`,
        'content-type': 'application/cloudevents-batch+json; charset=utf-8',
      },
      body: JSON.stringify(published),
    })
    expect(response.status).toBe(200)
  }
  /** Five lines of YAML: nothing of Azure is asked but the namespace. */
  const byKey = {
    deliveryMode: 'pull',
    namespaceTopic: topic.id,
    namespaceEndpoint: topic.namespaceEndpoint,
    namespaceKey: topic.key,
    eventSubscriptionName: 'app',
  }
  const { tenantId, clientId, clientSecret } = emulator
  const byCredential = { deliveryMode: 'pull', namespaceTopic: topic.id, tenantId, clientId, clientSecret }
  return { emulator, binding, log, events, topic, publish, byKey, byCredential }
}
