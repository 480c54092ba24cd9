import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import type { World } from './fault-run.ts'
import { type Host, startHost } from './host.ts'
import type { HostConfiguration } from './host-process.ts'
import { openLedger } from './ledger.ts'
import { type Network, type OnEnd, openNetwork } from './network.ts'

/** How a scenario starts. */
export interface PullWorldOptions {
  readonly honesty?: HostConfiguration['honesty']
  readonly metadata?: Readonly<Record<string, string>>
  /** What the host signs in with. @default `key`, and Resource Manager is not asked */
  readonly signIn?: 'key' | 'entra'
  /** Hosts that receive from the one queue. @default 1 */
  readonly replicas?: number
  /** How many times as fast as the machine's the time of the emulator and of the hosts runs. @default 20: a lock lasts 3 s */
  readonly speed?: number
  /** Bytes of data in each event. @default 0 */
  readonly size?: number
}

/** A namespace topic with one queue in this process, the hosts in others, and the application with its ledger in one more. */
export interface PullWorld extends World {
  /** Between the hosts and the namespace. */
  readonly network: Network
  /** Starts one more host, in place of one that has ended. */
  startHost(): Promise<Host>
  /** Resolves when so much time has passed on the emulator's clock. */
  pass(ms: number): Promise<void>
}

/** Starts them all. @param onEnd gets what stops them. */
export async function openPullWorld(seed: number, onEnd: OnEnd, options: PullWorldOptions = {}): Promise<PullWorld> {
  const { honesty = 'honest', metadata, signIn = 'key', replicas = 1, speed = 20, size = 0 } = options
  const network = await openNetwork(onEnd)
  const clock = startAcceleratedClock(speed)
  const emulator = await EventGridEmulator.start({
    clock,
    namespaces: [{ name: 'shop', topics: [{ name: 'orders', eventSubscriptions: [{ name: 'faults' }] }] }],
    clients: [{ roles: [{ role: 'EventGrid Contributor' }, { role: 'EventGrid Data Receiver' }] }],
  })
  onEnd(() => emulator.close())
  const ledger = await openLedger(seed, onEnd)
  const { tenantId, clientId, clientSecret, endpoints } = emulator
  const topic = emulator.namespaceTopic('orders')
  network.target(Number(new URL(topic.namespaceEndpoint).port))

  let host: Host | undefined
  const start = async (): Promise<Host> => {
    const fields = {
      ...{ deliveryMode: 'pull', namespaceTopic: topic.id, eventSubscriptionName: 'faults', handlerTimeout: '1h' },
      namespaceEndpoint: `https://127.0.0.1:${network.port}/namespaces/shop`,
      ...(signIn === 'key' ? { namespaceKey: topic.key } : { tenantId, clientId, clientSecret }),
    }
    const configuration = { metadata: { ...fields, ...metadata }, endpoints, ledger: ledger.url, honesty, speed }
    host = await startHost(configuration, onEnd)
    if (host.said !== 'receiving') throw new Error(`the host says ${host.said}`)
    return host
  }
  for (let started = 0; started < replicas; started++) await start()

  return {
    ...{ emulator, network, ledger, startHost: start },
    host() {
      if (!host) throw new Error('no host has been started')
      return host
    },
    pass: (ms) => new Promise((passed) => void clock.setTimer(ms, passed)),
    publish: (count) =>
      ledger.publish({
        ...{ count, size, perRequest: Math.min(500, Math.floor(1_000_000 / (size + 200))) },
        async post(events) {
          const url = `${emulator.proxy}/namespaces/shop/topics/orders:publish?api-version=2024-06-01`
          const answer = await fetch(url, {
            method: 'POST',
            headers: {
              authorization: `SharedAccessKey ${topic.key}`,
              'content-type': 'application/cloudevents-batch+json; charset=utf-8',
            },
            body: JSON.stringify(events),
          })
          if (!answer.ok) throw new Error(`the namespace topic answered ${answer.status}`)
        },
      }),
  }
}
