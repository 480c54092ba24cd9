import { isRecord } from '../../../../src/support/text/json-text.ts'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { type EventGridEmulatorOptions, ManualClock } from '../../src/index.ts'

export const order = { specversion: '1.0', id: 'one', source: '/shop', type: 'order.placed', data: { article: 'lamp' } }

/** The options of an emulator with the namespace topic `orders` and its Queue event subscription `app`. */
export const queue = (properties: Readonly<Record<string, unknown>> = {}) => ({
  namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'app', properties }] }] }],
})

/** The properties of a Queue event subscription with these settings. */
export const queueOf = (settings: object) => ({ deliveryConfiguration: { deliveryMode: 'Queue', queue: settings } })

/** That emulator, and a client for it. */
export async function openQueue(
  options: EventGridEmulatorOptions = {},
  properties?: Readonly<Record<string, unknown>>,
) {
  const clock = new ManualClock()
  const emulator = await startEmulator({ clock, ...queue(properties), ...options })
  const topic = emulator.namespaceTopic('orders')
  // Over plain http: the certificate is not the subject here.
  const base = `${emulator.proxy}/namespaces/shop/topics/orders`
  const call = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const url = path.includes('api-version') ? path : `${path}${path.includes('?') ? '&' : '?'}api-version=2024-06-01`
    const response = await fetch(`${base}${url}`, {
      method: 'POST',
      headers: { authorization: `SharedAccessKey ${topic.key}`, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const answer: unknown = await response.json()
    const { status, headers: answered } = response
    return { status, headers: answered, answer: isRecord(answer) ? answer : {} }
  }
  const publish = (event: unknown = order, type = 'application/cloudevents+json; charset=utf-8') =>
    call(':publish', event, { 'content-type': type })
  const receive = async (query = 'maxEvents=100&maxWaitTime=10') => {
    const { answer } = await call(`/eventsubscriptions/app:receive?${query}`)
    const value: unknown[] = Array.isArray(answer.value) ? answer.value : []
    return value.filter(isRecord).map(({ event, brokerProperties }) => {
      const { lockToken, deliveryCount } = isRecord(brokerProperties) ? brokerProperties : {}
      return { event, lockToken: String(lockToken), deliveryCount }
    })
  }
  const settle = (operation: string, tokens: readonly string[], query = '') =>
    call(`/eventsubscriptions/app:${operation}${query}`, { lockTokens: tokens })
  return { clock, emulator, topic, call, publish, receive, settle }
}
