import { expect, onTestFinished } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../../packages/emulator/src/index.ts'
import { createPluggable, type Pluggable, type PluggableOptions } from '../../../src/sidecar/pluggable/server.ts'
import { type CapturedLog, captureLog } from '../../support/captured-log.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { fieldsFor } from '../../support/open-world.ts'
import { quickRetries } from '../../support/quick-retries.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { connectHost, type GrpcHost, type ReadSession } from './grpc-host.ts'

/** A served component with an emulator behind it, and a host connected to it. */
export interface OpenComponent {
  readonly emulator: EventGridEmulator
  readonly pluggable: Pluggable
  readonly log: CapturedLog
  readonly host: GrpcHost
  /** One more host, by the socket of that type. */
  connect(type?: 'azure.eventgrid' | 'cloud.eventrouter'): GrpcHost
  /** Metadata fields of both sides. */
  readonly fields: Readonly<Record<string, string>>
  /** Where deliveries go. */
  readonly port: number
  /** Publishes an event to the topic, past the component. */
  publish(id: string): Promise<void>
}

/** Opens it all; the test's end closes it. */
export async function openComponent(
  options: { emulator?: EventGridEmulatorOptions; pluggable?: Partial<PluggableOptions> } = {},
): Promise<OpenComponent> {
  const emulator = await EventGridEmulator.start({
    retrySchedule: quickRetries,
    deadLetterDelay: 0,
    ...options.emulator,
  })
  const log = captureLog()
  const folder = makeSocketFolder()
  const pluggable = await createPluggable({
    folder,
    loggerOf: () => log,
    endpoints: emulator.endpoints,
    ...options.pluggable,
  })
  const hosts: GrpcHost[] = []
  onTestFinished(async () => {
    for (const host of hosts) host.close()
    await pluggable.close()
    await emulator.close()
  })
  const connect: OpenComponent['connect'] = (type = 'azure.eventgrid') => {
    const host = connectHost(pluggable.sockets.find((path) => path.endsWith(`${type}.sock`)) ?? '')
    hosts.push(host)
    return host
  }
  const topic = emulator.topic('orders')
  const port = await freePort()
  emulator.setIngress(({ pathname, search }) => `http://127.0.0.1:${port}${pathname}${search}`)
  return {
    emulator,
    pluggable,
    log,
    host: connect(),
    connect,
    port,
    fields: { ...fieldsFor(emulator), handshakePort: String(port) },
    async publish(id) {
      const answer = await fetch(topic.httpEndpoint, {
        method: 'POST',
        headers: { 'aeg-sas-key': topic.key, 'content-type': 'application/cloudevents-batch+json' },
        body: JSON.stringify([{ specversion: '1.0', id, source: '/test', type: 'test', data: { id } }]),
      })
      if (!answer.ok) throw new Error(`publishing was answered ${answer.status} ${await answer.text()}`)
    },
  }
}

/** Opens it with an input side that takes a delivery from anybody, and a stream of `Read` that has reached it. */
export async function openReading(fields: Readonly<Record<string, string>> = {}) {
  const open = await openComponent()
  await open.host.init('input', 'orders', { ...open.fields, deliveryAuthentication: 'none', ...fields })
  const reading = await open.host.read('orders')
  // Deliveries are refused until then.
  await eventually(() => {
    const { reasons = ['none'] } = open.pluggable.health().orders?.input ?? {}
    expect(reasons.filter((reason) => reason.includes('no handler'))).toEqual([])
  })
  return { ...open, reading }
}

export const cloudEvent = (id: string, data: unknown = null) => ({
  specversion: '1.0',
  id,
  source: '/s',
  type: 't',
  data,
})

/** Posts a delivery as Event Grid does. */
export function deliver(port: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return fetch(`http://127.0.0.1:${port}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/cloudevents+json', 'aeg-subscription-name': 'ORDERS', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Initialises both sides, begins to read, and publishes event 1 when the event subscription delivers. */
export async function beginReading({ host, fields, emulator, publish }: OpenComponent): Promise<ReadSession> {
  await host.init('input', 'orders', fields)
  await host.init('output', 'orders', fields)
  const reading = await host.read('orders')
  await emulator.records.handshakes.waitFor(({ outcome }) => outcome === 'validated')
  await emulator.idle()
  await publish('1')
  return reading
}
