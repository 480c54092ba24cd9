import { once } from 'node:events'
import { type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createQuietLog } from '../../../../src/core/logger.ts'
import { type BindingsApiOptions, createBindingsApi } from '../../../../src/sidecar/host/api/bindings-api.ts'
import { createGrpcApi } from '../../../../src/sidecar/host/api/grpc-api.ts'
import { createCallOutput } from '../../../../src/sidecar/host/call-output.ts'
import { captureLog } from '../../../support/captured-log.ts'
import { loadTexts } from '../../../support/load-texts.ts'
import { startEmulator } from '../../../support/start-emulator.ts'
import { openHost, publisherFile } from '../open-sidecar.ts'

/** A custom topic as its publisher knows it. */
interface Topic {
  readonly httpEndpoint: string
  readonly key: string
}

/** One that nothing is published to. */
const nowhere: Topic = { httpEndpoint: 'http://127.0.0.1:1/api/events', key: 'a-key' }

/** The HTTP API over a component `orders` that publishes only. */
export async function openApi(...given: Parameters<typeof openApis>) {
  const { http } = await openApis(...given)
  let url: Promise<string> | undefined
  /** Asks it over HTTP, as a client without any rules of its own. */
  async function ask({ method = 'GET', url: path, headers = {}, payload }: Question) {
    url ??= http.listen({ host: '127.0.0.1', port: 0 })
    const asked = request(`${await url}${path}`, { method, headers, agent: false }).end(payload)
    const [answer] = await once(asked, 'response')
    // It may answer before it has read everything, and then end the connection.
    asked.on('error', () => {})
    const body = await text(answer)
    return { statusCode: answer.statusCode, headers: answer.headers, body, json: () => JSON.parse(body) }
  }
  return { ...http, ask }
}

interface Question {
  readonly method?: string
  readonly url: string
  readonly headers?: OutgoingHttpHeaders
  readonly payload?: string
}

/** Both APIs over it. */
export async function openApis(options: Partial<BindingsApiOptions> = {}, topic = nowhere, log = captureLog()) {
  const yaml = publisherFile('orders', { topicEndpoint: topic.httpEndpoint, accessKey: topic.key })
  const { host } = openHost({ loggerOf: () => log })
  await host.start(loadTexts({ 'orders.yaml': yaml }))
  const quiet = createQuietLog({ logger: log })
  onTestFinished(quiet.close)
  const given: BindingsApiOptions = {
    running: host,
    callOutput: createCallOutput({ running: host, log: quiet }),
    appId: 'shop',
    app: undefined,
    version: '1.2.3',
    listeningOn: '127.0.0.1',
    notReady: () => [],
    onShutdown() {},
    ...options,
  }
  const http = createBindingsApi(given)
  const grpc = createGrpcApi(given)
  onTestFinished(async () => void (await Promise.all([http.close(), grpc.close()])))
  return { http, grpc }
}

/** The same with a topic of the emulator's, and what that was sent. */
export async function openPublishing(options: Partial<BindingsApiOptions> = {}) {
  const emulator = await startEmulator({ topics: [{ name: 'orders' }] })
  const api = await openApi(options, emulator.topic('orders'))
  return { api, published: () => emulator.records.requests.all().flatMap(({ body }) => body) }
}
