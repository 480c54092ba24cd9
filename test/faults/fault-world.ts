import { EventGridEmulator, type EventGridEmulatorOptions } from '../../packages/emulator/src/index.ts'
import { startAcceleratedClock } from '../support/accelerated-clock.ts'
import type { World } from './fault-run.ts'
import { type Host, startHost } from './host.ts'
import type { HostConfiguration } from './host-process.ts'
import { openLedger } from './ledger.ts'
import { type Network, type OnEnd, openNetwork } from './network.ts'

/** How a scenario starts. */
export interface FaultWorldOptions {
  readonly honesty?: HostConfiguration['honesty']
  readonly metadata?: Readonly<Record<string, string>>
  readonly emulator?: EventGridEmulatorOptions
  /** How many times as fast as the machine's the emulator's clock runs, so that its 30-second time-out comes sooner. @default 1 */
  readonly speed?: number
  /** Bytes of data in each event. @default 0 */
  readonly size?: number
}

/** Event Grid in this process, the host in a second, and the application with its ledger in a third. */
export interface FaultWorld extends World {
  readonly network: Network
  /** Starts a host in place of one that has ended. */
  startHost(): Promise<Host>
}

/** Starts all three. @param onEnd gets what stops them. */
export async function openFaultWorld(seed: number, onEnd: OnEnd, options: FaultWorldOptions = {}): Promise<FaultWorld> {
  const { honesty = 'honest', metadata, speed = 1, size = 0 } = options
  const network = await openNetwork(onEnd)
  const emulator = await EventGridEmulator.start({
    // Thirty tries must outlast the start of a host, on a busy machine too.
    retrySchedule: [50 * speed, 200 * speed, 1_000 * speed],
    deadLetterDelay: 0,
    concurrency: 128,
    maxPending: 100_000,
    clock: startAcceleratedClock(speed),
    ...options.emulator,
  })
  onEnd(() => emulator.close())
  emulator.setIngress(({ pathname }) => `http://127.0.0.1:${network.port}${pathname}`)
  const ledger = await openLedger(seed, onEnd)
  const { tenantId, subscriptionId, clientId, clientSecret, endpoints } = emulator
  const topic = emulator.topic()
  const perRequest = Math.min(50, Math.floor(1_000_000 / (size + 200)))

  let handshakePort = '0'
  let host: Host | undefined
  const start = async (): Promise<Host> => {
    const fields = {
      ...{ tenantId, subscriptionId, clientId, clientSecret, scope: topic.id, handshakePort },
      ...{ subscriberEndpoint: 'https://faults.example.com', eventSubscriptionName: 'faults' },
    }
    host = await startHost({ metadata: { ...fields, ...metadata }, endpoints, ledger: ledger.url, honesty }, onEnd)
    if (/^\d+$/.test(host.said)) {
      handshakePort = host.said
      network.target(Number(host.said))
    }
    return host
  }
  await start()
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()

  return {
    ...{ emulator, network, ledger, startHost: start },
    host() {
      if (!host) throw new Error('no host has been started')
      return host
    },
    publish: (count) =>
      ledger.publish({
        ...{ count, perRequest, size },
        async post(events) {
          const answer = await fetch(topic.httpEndpoint, {
            method: 'POST',
            headers: { 'aeg-sas-key': topic.key, 'content-type': 'application/cloudevents-batch+json' },
            body: JSON.stringify(events),
          })
          if (!answer.ok) throw new Error(`the topic answered ${answer.status}`)
        },
      }),
  }
}
