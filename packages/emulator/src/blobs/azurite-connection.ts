/** How a request is handed to Azurite unchanged, and how the blob endpoint refuses what does not reach Azurite. */
import http, { type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { Transform } from 'node:stream'
// As a whole: an older Node has no getCACertificates, and must get as far as the error that says it is too old.
import tls from 'node:tls'
import { takeRest } from '../server/unreadable-request.ts'
import { type BlobCall, type BlobPlace, headerOf } from './blob-call.ts'
import { factsOfAnswer } from './blob-watch.ts'
import type { BlobFacts } from './known-blobs.ts'

/** Times are real milliseconds. */
export interface AzuriteOptions {
  /** PEM certificates to trust beside Node's own, where Azurite serves https. */
  readonly trustedCertificates: readonly string[]
  /** Without a byte in either direction. */
  readonly silenceMs: number
  /** For the answer to a question about a blob. */
  readonly questionMs: number
}

/** A request that is handed on. */
export interface HandedOn {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly place: BlobPlace
  /** Whether the client waits for `100 Continue` with the body. */
  readonly waits: boolean
  /** Whether the answer is of interest even where the client has gone. */
  readonly outlives: boolean
  /** Called with each piece of the body. @default not at all */
  readonly onPiece?: ((piece: Buffer) => void) | undefined
  /**
   * Awaited when the body is whole, before its last byte goes out: what Azurite does not have whole it does not take. @default not at all
   */
  readonly beforeEnd?: (() => Promise<void>) | undefined
}

/** No answer of Azurite; the cause is that of the connection. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

export function createAzuriteConnection(azurite: URL, { trustedCertificates, silenceMs, questionMs }: AzuriteOptions) {
  const isSecure = azurite.protocol === 'https:'
  const ca = isSecure ? [...tls.getCACertificates('default'), ...trustedCertificates] : []
  // A connection for each request: one that is kept may end as a body is on its way, which cannot be sent again. It must not
  // say so: Azurite would cut it when it refuses an upload, and the refusal would be lost.
  const settings = { keepAlive: true } as const
  const agent = Object.assign(
    isSecure
      ? new https.Agent({ ...settings, secureContext: tls.createSecureContext({ ca }) })
      : new http.Agent(settings),
    { maxFreeSockets: 0 },
  )
  const openRequest = (isSecure ? https : http).request
  const host = azurite.hostname.replace(/^\[(.*)\]$/, '$1')
  const address = {
    ...{ agent, host },
    port: azurite.port || (isSecure ? 443 : 80),
    // Node would take it from the header.
    servername: isIP(host) === 0 ? host : '',
    setHost: false,
    timeout: silenceMs,
  }

  return {
    /** Hands a request on. Resolves with the head of the answer, whose body has to be read. Rejects with a NoAnswerError. */
    handOn({ request, response, place, waits, outlives, onPiece, beforeEnd }: HandedOn): Promise<IncomingMessage> {
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
      const { method = 'GET', url = '/' } = request
      const sent = openRequest({ ...address, method, path: url, headers: handedHeaders(request, place) })
      let isStarted = false
      const start = () => {
        isStarted = true
        if (onPiece) request.on('data', onPiece)
        if (beforeEnd) request.pipe(holdingLastByte(beforeEnd)).pipe(sent)
        else request.pipe(sent)
      }
      sent.once('response', (answer) => {
        // Refused before the body was asked for: it never comes.
        answer.once('close', () => {
          if (!isStarted) sent.destroy()
        })
        resolve(answer)
      })
      sent.once('timeout', () => sent.destroy(new Error(`nothing came for ${silenceMs / 1000} s`)))
      listenToSocket(sent)
      sent.on('error', (cause) => reject(new NoAnswerError(cause.message, { cause })))
      sent.once('close', () => {
        reject(new NoAnswerError('the connection ended'))
        // What Azurite did not want is taken all the same, or the client would wait to send it.
        request.unpipe()
        request.resume()
      })
      response.once('close', () => {
        if (!response.writableFinished && !(outlives && sent.writableFinished)) sent.destroy()
      })
      if (waits) {
        sent.once('continue', () => {
          response.writeContinue()
          start()
        })
        sent.flushHeaders()
      } else start()
      return promise
    },

    /**
     * What a blob is, asked with the caller's own signature or token. A shared key cannot be used: it signs one request and
     * its method. Undefined where the caller may not read, or Azurite does not say.
     */
    ask(call: BlobCall): Promise<BlobFacts | undefined> {
      const { url, headers, query, origin } = call
      const host = isMisread(origin.host, call) ? plainHost : origin.host
      const token = headerOf(headers, 'authorization')
      const isToken = token !== undefined && /^bearer /i.test(token)
      if (!isToken && !query.has('sig')) return Promise.resolve(undefined)
      const { promise, resolve } = Promise.withResolvers<BlobFacts | undefined>()
      const version = headerOf(headers, 'x-ms-version')
      const asked = openRequest({
        ...address,
        method: 'HEAD',
        path: readUrl(url),
        headers: { host, ...(isToken && { authorization: token }), ...(version && { 'x-ms-version': version }) },
        signal: AbortSignal.timeout(questionMs),
      })
      asked.once('response', (answer) => {
        answer.resume()
        const { statusCode: status = 0 } = answer
        resolve(status === 200 ? factsOfAnswer({ status, headers: answer.headers }) : undefined)
      })
      listenToSocket(asked)
      asked.on('error', () => resolve(undefined))
      asked.once('timeout', () => asked.destroy())
      asked.once('close', () => resolve(undefined))
      asked.end()
      return promise
    },

    /** Cuts what is open. */
    close: () => agent.destroy(),
  }
}

/** Lets a body through but for its last byte, which waits. */
function holdingLastByte(wait: () => Promise<void>): Transform {
  let last: Buffer | undefined
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (last) this.push(last)
      last = piece.subarray(-1)
      done(null, piece.subarray(0, -1))
    },
    flush(done) {
      wait().then(() => done(null, last), done)
    },
  })
}

/** A connection may break when Node has taken it back from its request: an error that nobody listens to would end the process. */
function listenToSocket(sent: ClientRequest): void {
  sent.once('socket', (socket) => socket.on('error', () => {}))
}

/** Headers of one connection, which are not handed on. */
const ofConnection: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade'])

/** A host with dots and the account in the path: Azurite would take the first label for the account. No signature covers the host. */
const isMisread = (host: string, { isInPath }: BlobPlace) =>
  isInPath && host.includes('.') && isIP(host.replace(/:\d+$/, '')) === 0
const plainHost = 'localhost'

/** As they came, in their order and spelling. A copy keeps its host, which Azurite compares with that of its source. */
function handedHeaders({ rawHeaders, headers, method = 'GET' }: IncomingMessage, place: BlobPlace): string[] {
  const isCopy = headers['x-ms-copy-source'] !== undefined
  const isRenamed = !isCopy && isMisread(headers.host ?? '', place)
  const dropped = isRenamed ? new Set([...ofConnection, 'host']) : ofConnection
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined
  // Node would announce a body of unknown length.
  const none = hasBody || /^(GET|HEAD|DELETE|OPTIONS|TRACE)$/.test(method) ? [] : ['Content-Length', '0']
  return [...(isRenamed ? ['Host', plainHost] : []), ...without(rawHeaders, dropped), ...none]
}

/** The headers of an answer, as they came. Node frames the body anew. */
export const answeredHeaders = ({ rawHeaders }: IncomingMessage): string[] =>
  without(rawHeaders, new Set([...ofConnection, 'transfer-encoding']))

function without(rawHeaders: readonly string[], names: ReadonlySet<string>): string[] {
  return rawHeaders.filter((_text, at) => !names.has((rawHeaders[at - (at % 2)] ?? '').toLowerCase()))
}

/** The URL of a blob, with the signature of a call, and without what the call does. */
function readUrl(url: string): string {
  const [path = '', search = ''] = url.split('?', 2)
  const kept = search.split('&').filter((part) => !/^(comp|blockid|timeout|restype)=/i.test(part))
  return `${path}?${kept.join('&')}`
}

export interface StorageRefusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** Of Azure Storage, by status. */
const usualCodes: Readonly<Record<number, string>> = {
  403: 'AuthorizationFailure',
  404: 'BlobNotFound',
  409: 'BlobAlreadyExists',
  412: 'ConditionNotMet',
  500: 'InternalError',
  503: 'ServerBusy',
}

export const usualStorageCode = (status: number): string => usualCodes[status] ?? 'InternalError'

/** Answers once what is on its way of the body was taken. */
export async function refuseCall(
  request: IncomingMessage,
  response: ServerResponse,
  { status, code, message, retryAfter }: StorageRefusal,
): Promise<void> {
  await takeRest(request)
  if (response.destroyed) return
  const said = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`
  response.writeHead(status, {
    'content-type': 'application/xml',
    'content-length': Buffer.byteLength(said),
    'x-ms-error-code': code,
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    ...(request.complete ? {} : { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : said)
}

const escaped = (text: string) =>
  text.replace(/[&<>]/g, (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[mark] ?? mark)
