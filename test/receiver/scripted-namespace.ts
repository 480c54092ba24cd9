import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createCertificateAuthority } from '../../packages/emulator/src/server/tls/certificates.ts'
import { createPullSide } from '../../src/binding/sides/pull-side.ts'
import type { Endpoints, EventHandler } from '../../src/index.ts'
import { parseMetadata } from '../../src/metadata/typed/parse-metadata.ts'
import { captureLog } from '../support/captured-log.ts'
import { listen } from '../support/listen.ts'
import { createManualClock } from '../support/manual-clock.ts'
import { order } from '../support/open-pull.ts'

/** A server in the place of a namespace, with what `endpoints.ca` trusts it by. */
export async function startNamespace(answer: RequestListener) {
  const authority = createCertificateAuthority()
  const { certificate: cert, key } = authority.issue(['127.0.0.1'])
  const server = createServer({ key, cert }, answer)
  const namespaceEndpoint = `https://127.0.0.1:${await listen(server)}`
  /** Ends requests that have no answer: a receiver that closes would wait a second for their answers. */
  const cut = () => server.closeAllConnections()
  return { namespaceEndpoint, binding: { endpoints: { ca: authority.certificate } }, cut }
}

/** Metadata that receive from it by a key. */
export const pullByKey = (namespaceEndpoint: string) => ({
  deliveryMode: 'pull',
  namespaceTopic:
    '/subscriptions/33333333-3333-4333-8333-333333333333/resourceGroups/rg/providers/Microsoft.EventGrid/namespaces/shop/topics/orders',
  namespaceEndpoint,
  namespaceKey: 'bWFya2Vk',
  eventSubscriptionName: 'app',
})

/** A pull side without the rest of a binding, on a clock that stands still, not yet started. */
export async function createSide(properties: Record<string, string>, endpoints: Endpoints, onEvent: EventHandler) {
  const { pull } = parseMetadata(properties)
  if (!pull) throw new Error('no pull side')
  const log = captureLog()
  const { clock, ...time } = createManualClock()
  const handler = { current: onEvent }
  const side = await createPullSide(pull, { endpoints, hostCredential: undefined, logger: log, clock, handler })
  /** Closes it when the second for the last answers is over. */
  const close = () => {
    const closed = side.close()
    time.advance(1_000)
    return closed
  }
  return { side, close, log, ...time }
}

/** The same, started in the background. */
export async function openSide(...parts: Parameters<typeof createSide>) {
  const created = await createSide(...parts)
  await created.side.start('background', new AbortController().signal)
  return created
}

/** Has the test's end close a side whose namespace may leave requests without an answer. */
export function closeAtEnd({ close }: { close(): Promise<void> }, { cut }: { cut(): void }): void {
  onTestFinished(async () => {
    const closed = close()
    cut()
    await closed
  })
}

/** One request to the data plane. */
export interface NamespaceRequest {
  /** `receive`, `acknowledge`, `release`, `reject` or `renewLock`. */
  readonly operation: string
  readonly url: string
  /** Its content type. */
  readonly type: string | undefined
  readonly lockTokens: readonly string[]
  readonly authorization: string
  /** Its number among those of its operation, from 0. */
  readonly index: number
}

export interface NamespaceAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  /** The connection ends in place of an answer. */
  readonly isCut?: boolean
}

/** What a receive brings: an event for each lock token. */
export const brings = (...lockTokens: readonly string[]): NamespaceAnswer => ({
  body: JSON.stringify({
    value: lockTokens.map((lockToken) => ({
      brokerProperties: { lockToken, deliveryCount: 1 },
      event: order(lockToken),
    })),
  }),
})

/** What a settlement is answered; `failed`: an error code by lock token. */
export const settles = (
  lockTokens: readonly string[],
  failed: Readonly<Record<string, string>> = {},
): NamespaceAnswer => ({
  body: JSON.stringify({
    failedLockTokens: Object.entries(failed).map(([lockToken, code]) => ({ lockToken, error: { code, message: '' } })),
    succeededLockTokens: lockTokens.filter((token) => !(token in failed)),
  }),
})

type ScriptedAnswer = NamespaceAnswer | undefined | null
export type Script = (request: NamespaceRequest) => ScriptedAnswer | Promise<ScriptedAnswer>

/** A script whose first receive brings events and whose others never end; `settle` answers what is no receive. */
export const bringsOnce =
  (lockTokens: readonly string[], settle: Script = () => null): Script =>
  (request) => {
    if (request.operation !== 'receive') return settle(request)
    return request.index === 0 ? brings(...lockTokens) : undefined
  }

/** A namespace that answers by a script, `undefined` never; settlements that the script leaves out (`null`) succeed. */
export async function scriptNamespace(script: Script) {
  const requests: NamespaceRequest[] = []
  const of = (operation: string) => requests.filter((request) => request.operation === operation)
  const { namespaceEndpoint, binding, cut } = await startNamespace(async (incoming, outgoing) => {
    const [, operation = ''] = /:(\w+)\?/.exec(incoming.url ?? '') ?? []
    const text = await readText(incoming)
    const lockTokens: string[] = text === '' ? [] : JSON.parse(text).lockTokens
    const request = {
      operation,
      url: incoming.url ?? '',
      type: incoming.headers['content-type'],
      lockTokens,
      authorization: incoming.headers.authorization ?? '',
      index: of(operation).length,
    }
    requests.push(request)
    const answer = await script(request)
    if (answer === undefined) return
    const { status = 200, headers = {}, body = '', isCut = false } = answer ?? settles(lockTokens)
    if (isCut) outgoing.destroy()
    else outgoing.writeHead(status, headers).end(body)
  })
  /** How many events each receive asked for. */
  const asked = () => of('receive').map(({ url }) => Number(/maxEvents=(\d+)/.exec(url)?.[1]))
  return { requests, of, asked, properties: pullByKey(namespaceEndpoint), endpoints: binding.endpoints, cut }
}
