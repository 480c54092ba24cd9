/** An https server in front of the emulator: adds storage accounts, and may change what the emulator answers. */
import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import type { EventGridEmulator } from '../../../packages/emulator/src/index.ts'
import { isRecord, readJson } from '../../../src/support/text/json-text.ts'
import { openIngress } from '../../support/public-ingress.ts'
import type { StorageFace } from './storage-face.ts'

/** An answer of the emulator, before it is sent. */
export interface FrontAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** JSON, else a text. */
  readonly body: unknown
}

export interface FrontCall {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Changes an answer, or leaves it as it is. */
export type Lie = (call: FrontCall, answer: FrontAnswer) => FrontAnswer

export interface Front {
  /** `https://localhost:PORT`. */
  readonly url: string
  /** Certificates to trust: its own, and the emulator's, which answers for its validation URLs itself. */
  readonly ca: string
  readonly calls: readonly FrontCall[]
}

/** Whether a resource is in the group whose list this is. */
const isIn = (list: string) => (one: object) =>
  'id' in one &&
  String(one.id)
    .toLowerCase()
    .startsWith(list.toLowerCase().replace(/resources$/, ''))

const hopByHop = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive'])

export async function openFront(
  emulator: EventGridEmulator,
  storage: StorageFace,
  {
    lie = (_call, answer) => answer,
    rename = (url) => url,
  }: { readonly lie?: Lie; readonly rename?: (url: string) => string } = {},
): Promise<Front> {
  const ingress = await openIngress()
  const { origin: url, host } = new URL(ingress.url)
  const inner = new URL(emulator.endpoints.resourceManager)
  const agent = new Agent({ ca: emulator.ca, keepAlive: true })
  const calls: FrontCall[] = []
  const renamed = (given: string) => given.replaceAll(inner.host, host)

  async function ask({ method, url: path, headers, text: sent }: FrontCall): Promise<FrontAnswer> {
    const { connection: _connection, ...rest } = headers
    const out = request(inner, { agent, method, path, headers: { ...rest, 'content-length': Buffer.byteLength(sent) } })
    out.end(sent)
    const [answer]: IncomingMessage[] = await once(out, 'response')
    if (!answer) throw new Error('no answer')
    const content = renamed(await text(answer))
    const seen = Object.entries(answer.headers).filter(([name]) => !hopByHop.has(name))
    const shown = Object.fromEntries(
      seen.map(([name, value]) => [name, typeof value === 'string' ? renamed(value) : value]),
    )
    return { status: answer.statusCode ?? 0, headers: shown, body: readJson(content) ?? content }
  }

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming
    const call: FrontCall = { method, url: rename(path), headers, text: await text(incoming) }
    calls.push(call)
    const [plain = ''] = path.split('?')
    const ofStorage = await storage.answer({ method, path: plain, body: readJson(call.text) })
    let answer: FrontAnswer
    if (ofStorage) {
      const { location } = ofStorage.headers ?? {}
      answer = {
        status: ofStorage.status,
        headers: location ? { location: `${url}${location}` } : {},
        body: ofStorage.body ?? '',
      }
    } else answer = await ask(call)
    if (
      /\/resourceGroups\/[^/]+\/resources$/i.test(plain) &&
      isRecord(answer.body) &&
      Array.isArray(answer.body.value)
    ) {
      answer = {
        ...answer,
        body: { ...answer.body, value: [...answer.body.value, ...storage.accounts().filter(isIn(plain))] },
      }
    }
    const told = lie(call, answer)
    const body = typeof told.body === 'string' ? told.body : JSON.stringify(told.body)
    const shown: OutgoingHttpHeaders = {
      ...told.headers,
      'content-length': Buffer.byteLength(body),
    } as OutgoingHttpHeaders
    if (told.status === 204) delete shown['content-length']
    outgoing.writeHead(told.status, shown)
    outgoing.end(told.status === 204 ? '' : body)
  }

  ingress.route(() => (outgoing, incoming) => {
    serve(incoming, outgoing).catch(() => outgoing.destroy())
  })
  return { url, calls, ca: `${ingress.ca}\n${emulator.ca}` }
}
