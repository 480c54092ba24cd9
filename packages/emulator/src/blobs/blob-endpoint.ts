/** The blob endpoint of all storage accounts, over http and https: it hands requests to Azurite and raises their events. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer, TLSSocket, type TlsOptions } from 'node:tls'
import { closable } from '../../../../src/support/net/closable-server.ts'
import { messageOf } from '../../../../src/support/process/error-code.ts'
import { pause } from '../../../../src/support/time/clock.ts'
import type { Clock } from '../model/time/clock.ts'
import type { PublishSummary } from '../records/record-types.ts'
import { type RecordingOptions, recordRaw } from '../server/recording.ts'
import { createTwoServers, portOf } from '../server/shared-port.ts'
import { answerClientError } from '../server/unreadable-request.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import {
  answeredHeaders,
  createAzuriteConnection,
  type HandedOn,
  NoAnswerError,
  refuseCall,
  type StorageRefusal,
  usualStorageCode,
} from './azurite-connection.ts'
import { type BlobAction, type BlobCall, blobCallOf, blobPlaceOf, type Origin } from './blob-call.ts'
import { createSequencer } from './blob-event.ts'
import { type BlobTurn, createBlobWatch } from './blob-watch.ts'

/** A storage account, and the Azurite that has its blobs. */
export interface BlobAccount {
  readonly account: string
  /** Its resource id, at which its events are raised. */
  readonly id: string
  /** Base URL of Azurite. */
  readonly azurite: string
}

/** Limits of the blob endpoint. Times are real milliseconds. */
export const blobLimits = {
  /** Further connections are closed at once. */
  connections: 1024,
  /** For a request's headers. */
  headersMs: 30_000,
  /** Without a byte in either direction; a whole request may take as long as it needs. */
  silenceMs: 120_000,
  /** For an answer of Azurite about a blob. */
  questionMs: 5_000,
  /** The body of a block list, 50,000 blocks of 64 bytes and their tags, or of a batch or its answer. */
  keptBytes: 8 * 1024 * 1024,
} as const

export interface BlobEndpointOptions extends RecordingOptions {
  readonly accounts: readonly BlobAccount[]
  /** The certificates of the endpoint. */
  readonly tls: TlsOptions
  /** PEM certificates to trust at Azurite beside Node's own. */
  readonly trustedCertificates: readonly string[]
  readonly clock: Clock
  readonly persisted: PersistedValues
  /** Whether the limit of pending events is reached. */
  readonly full: () => boolean
  /** Raises events of an account, whose id is their source. */
  readonly raise: (account: BlobAccount, events: readonly object[]) => PublishSummary
}

/** The actions that raise no event. While too many are pending, the others are refused: Azure raises none too few. */
const silent: ReadonlySet<BlobAction> = new Set(['PutBlock', 'Read', 'Alter', 'DeleteContainer'])

export function createBlobEndpoint(options: BlobEndpointOptions) {
  const { handle, close } = createService(options)
  const http = createServer({
    headersTimeout: blobLimits.headersMs,
    // Not for the whole request: an upload may take long.
    requestTimeout: 0,
    keepAliveTimeout: blobLimits.silenceMs,
    connectionsCheckingInterval: 5_000,
  })
  http.timeout = blobLimits.silenceMs
  http.on('request', (request, response) => handle(request, response, { waits: false }))
  http.on('checkContinue', (request, response) => handle(request, response, { waits: true }))
  http.on('clientError', answerClientError)
  const tls = { ...options.tls, ALPNProtocols: ['http/1.1'], handshakeTimeout: blobLimits.headersMs }
  const https = createTlsServer(tls)
  https.on('secureConnection', (socket) => http.emit('connection', socket))
  const server = createTwoServers(https, http)
  server.maxConnections = blobLimits.connections
  const open = closable(server)
  return {
    /** Binds the port; resolves with its number. @param port 0 takes a free one */
    async listen(host: string, port: number): Promise<number> {
      server.listen(port, host)
      await once(server, 'listening')
      // It gets its connections from another server, and checks the time of their headers from here on.
      http.emit('listening')
      return portOf(server)
    },
    async close(): Promise<void> {
      close()
      http.close()
      await open.close(0)
    },
  }
}

function createService(options: BlobEndpointOptions) {
  const { accounts, trustedCertificates, persisted, clock, faults, full, raise } = options
  const served = new Map(
    accounts.map((one) => {
      const connection = createAzuriteConnection(new URL(one.azurite), { ...blobLimits, trustedCertificates })
      return [one.account, { ...one, connection, sequencer: createSequencer(persisted, one.account, clock.now()) }]
    }),
  )
  const names = new Set(served.keys())
  const serving = (account: string) => {
    const one = served.get(account)
    if (!one) throw new Error(`no account ${account}`)
    return one
  }
  const watch = createBlobWatch({
    accounts: names,
    sequencerOf: (account) => serving(account).sequencer(),
    ask: (call) => serving(call.account).connection.ask(call),
  })

  /** Raises the events of a request, and records it. */
  function publish(request: IncomingMessage, status: number, account: string, events: readonly object[]): void {
    if (events.length > 0) recordRaw(options, 'blob', request, { status, publish: raise(serving(account), events) })
  }

  /** @param account as the request names it */
  async function refuse(
    request: IncomingMessage,
    response: ServerResponse,
    account: string,
    refusal: StorageRefusal,
  ): Promise<void> {
    const { status, code, message } = refusal
    recordRaw(options, 'blob', request, { status, code, message, publish: { topic: account } })
    await refuseCall(request, response, refusal)
  }

  /** Applies an injected fault. Returns whether the request is answered with it. */
  async function fails(request: IncomingMessage, response: ServerResponse, account: string): Promise<boolean> {
    const { method = '', url = '' } = request
    const fault = faults.take('blob', { method, url })
    if (!fault) return false
    const { delayMs, drop, status, code, message = 'The request failed.', retryAfter } = fault
    if (delayMs) {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      await pause(clock, delayMs, gone.signal)
    }
    if (drop) request.socket.destroy()
    else if (status !== undefined)
      await refuse(request, response, account, { status, code: code ?? usualStorageCode(status), message, retryAfter })
    return drop === true || status !== undefined
  }

  /** Hands a call to Azurite, which takes one call of a blob after the other, and raises its events before its answer goes out. */
  async function handOver(handedOn: HandedOn, call: BlobCall | undefined): Promise<void> {
    const { request, response, place } = handedOn
    const { connection } = serving(place.account)
    if (!call) return answerWith(response, await connection.handOn(handedOn))
    const isRead = call.action === 'Read'
    const known = watch.facts(call)
    const isKept = call.action === 'PutBlockList' || call.action === 'Batch'
    const kept = isKept ? createKept() : undefined
    let turn: BlobTurn | undefined
    let isOver = false
    const beforeEnd = async () => {
      turn = await watch.takeTurn({ call, body: kept?.whole()?.toString() })
      if (isOver) turn.end()
    }
    try {
      const answer = await connection.handOn({
        ...{ ...handedOn, outlives: !isRead, onPiece: kept?.add },
        ...(!isRead && { beforeEnd }),
      })
      const { statusCode: status = 502, headers } = answer
      const watched = { call, body: kept?.whole()?.toString(), before: isRead ? known : turn?.before }
      if (call.action !== 'Batch') {
        // Before the client has its answer: who waits for pending events then waits for these too.
        publish(request, status, place.account, await watch.answered({ ...watched, answer: { status, headers } }))
        return answerWith(response, answer)
      }
      const parts = await wholeBody(answer)
      const text = { contentType: headers['content-type'], body: parts.toString() }
      publish(request, status, place.account, await watch.answeredBatch(watched, text))
      response.writeHead(status, answer.statusMessage, answeredHeaders(answer)).end(parts)
    } catch (error) {
      if (turn) watch.unanswered(call)
      throw error
    } finally {
      isOver = true
      turn?.end()
    }
  }

  function answerWith(response: ServerResponse, answer: IncomingMessage): void {
    response.sendDate = false
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answeredHeaders(answer))
    // Whichever side breaks off, the other one is cut.
    pipeline(answer, response, () => {})
  }

  async function answer(request: IncomingMessage, response: ServerResponse, waits: boolean): Promise<void> {
    const { method = '', url = '', headers, socket } = request
    const origin: Origin = { protocol: socket instanceof TLSSocket ? 'https' : 'http', host: headers.host ?? '' }
    const place = blobPlaceOf(names, origin.host, url)
    if (!place) return refuse(request, response, firstPart(url), unknownAccount(origin.host, url, names))
    const { account } = place
    if (await fails(request, response, account)) return
    const call = blobCallOf(place, origin, { method, url, headers })
    if (call && !silent.has(call.action) && full()) {
      const message = 'The emulator holds as many undelivered events as maxPending and maxPendingBytes allow.'
      return refuse(request, response, account, { status: 503, code: 'ServerBusy', message, retryAfter: 1 })
    }
    try {
      await handOver({ request, response, place, waits, outlives: false }, call)
    } catch (error) {
      if (response.headersSent || response.destroyed) return void response.destroy()
      await refuse(request, response, account, refusalOf(error, serving(account).azurite))
    }
  }

  return {
    handle(request: IncomingMessage, response: ServerResponse, { waits }: { readonly waits: boolean }): void {
      // A client that goes away is no failure of the emulator.
      request.on('error', () => response.destroy())
      response.on('error', () => response.destroy())
      answer(request, response, waits).catch(() => response.destroy())
    },
    close(): void {
      for (const { connection } of served.values()) connection.close()
    },
  }
}

/** Where an account may be named, cut. */
const firstPart = (url: string) => (/^\/?([^/?]*)/.exec(url)?.[1] ?? '').slice(0, 100)

function unknownAccount(host: string, url: string, names: ReadonlySet<string>): StorageRefusal {
  const [label, part] = [host.replace(/:\d+$/, '').slice(0, 100), firstPart(url)].map((text) => JSON.stringify(text))
  const message =
    `The emulator does not know the storage account: neither the host ${label} nor the path ${part} begins with one; storage ` +
    `names ${[...names].join(', ')}.`
  return { status: 404, code: 'ResourceNotFound', message }
}

function refusalOf(error: unknown, azurite: string): StorageRefusal {
  if (!(error instanceof NoAnswerError)) {
    // Azurite took the call, and the state file did not take its events. The client tries again.
    return {
      status: 500,
      code: 'InternalError',
      message: `The emulator could not raise the event: ${messageOf(error)}`,
    }
  }
  const remedy = azurite.startsWith('https:')
    ? 'Start Azurite there, give another URL in storage, or name its certificate in trustedCertificates.'
    : 'Start Azurite there, or give another URL in storage.'
  const message = `The emulator got no answer from Azurite at ${azurite}: ${error.message}. ${remedy}`
  // Not 503, which Azure's clients try again for half a minute before they show a message.
  return { status: 502, code: 'AzuriteUnavailable', message }
}

/** Pieces of a body, up to a length. */
function createKept() {
  const pieces: Buffer[] = []
  let bytes = 0
  return {
    add(piece: Buffer): void {
      bytes += piece.length
      if (bytes > blobLimits.keptBytes) pieces.length = 0
      else pieces.push(piece)
    },
    /** Undefined where it was too long. */
    whole: () => (bytes > blobLimits.keptBytes ? undefined : Buffer.concat(pieces)),
  }
}

/** Throws a NoAnswerError for a body that breaks off, or that is too long. */
async function wholeBody(answer: IncomingMessage): Promise<Buffer> {
  const kept = createKept()
  try {
    for await (const piece of answer) kept.add(piece)
  } catch (cause) {
    throw new NoAnswerError('its answer broke off', { cause })
  }
  const whole = kept.whole()
  if (!whole) throw new NoAnswerError('its answer to a batch is too long')
  return whole
}
