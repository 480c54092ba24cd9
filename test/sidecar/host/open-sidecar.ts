import { onTestFinished } from 'vitest'
import { ComponentSet, type ComponentSetOptions } from '../../../src/sidecar/host/component-set.ts'
import { createSidecar, type SidecarOptions } from '../../../src/sidecar/host/sidecar.ts'
import { createMetrics } from '../../../src/sidecar/shared/metrics.ts'
import { captureLog } from '../../support/captured-log.ts'
import { componentFile } from '../../support/component-folder.ts'
import { loadTexts } from '../../support/load-texts.ts'
import { queue } from '../../support/open-pull.ts'
import { startEmulator } from '../../support/start-emulator.ts'

type Files = Readonly<Record<string, string | Error>>

/** Publishes only. */
export const publisherFile = (name: string, more: Readonly<Record<string, string>> = {}) =>
  componentFile(name, { topicEndpoint: 'http://127.0.0.1:1/api/events', accessKey: 'key', ...more })

/** An emulator with a queue, and the fields of a component that receives from it and publishes to it. */
export async function startQueue() {
  const emulator = await startEmulator({ namespaces: queue })
  const topic = emulator.namespaceTopic('orders')
  const fields = {
    deliveryMode: 'pull',
    namespaceTopic: topic.id,
    namespaceEndpoint: topic.namespaceEndpoint,
    namespaceKey: topic.key,
    eventSubscriptionName: 'app',
    topicEndpoint: topic.endpoint,
    accessKey: topic.key,
  }
  return { emulator, fields }
}

/** Components without an application and an API. The test's end closes them. */
export function openHost(options: Partial<ComponentSetOptions> = {}) {
  const log = captureLog()
  const metrics = createMetrics()
  const given = { channel: undefined, publishAnswer: async () => {}, loggerOf: () => log, metrics }
  const host = new ComponentSet({ ...given, ...options })
  onTestFinished(() => host.close())
  return { host, log, metrics }
}

/** `run` in this process, on files that a test writes. */
export async function openSidecar(first: Files, options: Partial<SidecarOptions<Files>> = {}) {
  let files = first
  let failure: Error | undefined
  const log = captureLog()
  const load = (sources: Files) => {
    if (failure) throw failure
    return loadTexts(sources)
  }
  const sidecar = await createSidecar<Files>({
    appId: 'shop',
    app: undefined,
    version: '1.2.3',
    onShutdown() {},
    appToken: undefined,
    health: undefined,
    http: { host: '127.0.0.1', port: 0 },
    grpc: undefined,
    apiToken: undefined,
    endpoints: undefined,
    loggerOf: () => log,
    components: { read: async () => files, known: first, load },
    ...options,
  })
  onTestFinished(() => sidecar.close())
  const api = await sidecar.listen()
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`${api}${path}`, init)
    return { status: answer.status, body: await answer.text() }
  }
  return {
    sidecar,
    log,
    /** The messages of the log that hold a text. */
    said: (part: string) => log.lines.filter(({ message }) => message.includes(part)).map(({ message }) => message),
    start: () => sidecar.start(load(first)),
    write: (next: Files) => {
      files = next
    },
    failToLoad: (error: Error | undefined) => {
      failure = error
    },
    ask,
    create: (name: string, data: unknown) =>
      ask(`/v1.0/bindings/${name}`, { method: 'POST', body: JSON.stringify({ operation: 'create', data }) }),
    /** The names of the components that run. */
    names: () => Object.keys(sidecar.observed.health()),
    metrics: () => sidecar.observed.metrics.text(),
  }
}
