/** The blob endpoints of storage accounts: each hands its requests to Azurite and raises the account's events. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { type ClosableServer, closable } from '../../../../src/support/net/closable-server.ts'
import { messageOf } from '../../../../src/support/process/error-code.ts'
import { pause } from '../../../../src/support/time/clock.ts'
import type { Clock } from '../model/time/clock.ts'
import type { PublishSummary } from '../records/record-types.ts'
import { type RecordingOptions, recordRaw } from '../server/recording.ts'
import { portOf } from '../server/topic-ports.ts'
import { answerClientError } from '../server/unreadable-request.ts'
import type { PersistedValues } from '../state/persisted-values.ts'
import {
  type AzuriteConnection,
  answeredHeaders,
  createAzuriteConnection,
  NoAnswerError,
  refuseCall,
  type StorageRefusal,
  usualStorageCode,
} from './azurite-connection.ts'
import { type BlobAction, type BlobCall, blobCallOf } from './blob-call.ts'
import { createSequencer } from './blob-event.ts'
import { type BlobTurn, type BlobWatch, createBlobWatch } from './blob-watch.ts'

/** A storage account, and the Azurite that has its blobs. */
export interface BlobAccount {
  readonly account: string
  /** Its resource id, at which its events are raised. */
  readonly id: string
  /** Base URL of Azurite. */
  readonly azurite: string
  /** 0 takes a free one. */
  readonly port: number
}

/** Limits of a blob endpoint. Times are real milliseconds. */
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

export interface BlobEndpointsOptions extends RecordingOptions {
  readonly clock: Clock
  readonly persisted: PersistedValues
  /** Whether the limit of pending events is reached. */
  readonly full: () => boolean
  /** Raises events of an account, whose id is their source. */
  readonly raise: (account: BlobAccount, events: readonly object[]) => PublishSummary
}

/** The actions that raise events. While too many are pending, they are refused: Azure raises none too few. */
const raising: ReadonlySet<BlobAction> = new Set([
  'PutBlob',
  'PutBlockList',
  'CopyBlob',
  'DeleteBlob',
  'SetBlobTier',
  'Batch',
])

export function createBlobEndpoints(accounts: readonly BlobAccount[], options: BlobEndpointsOptions) {
  const open: { readonly server: ClosableServer; readonly azurite: AzuriteConnection }[] = []
  return {
    /** Binds the ports; resolves with their numbers, by account. */
    async listen(host: string): Promise<Readonly<Record<string, number>>> {
      const ports: Record<string, number> = {}
      for (const account of accounts) {
        const azurite = createAzuriteConnection(new URL(account.azurite), blobLimits)
        const server = serverOf(account, azurite, options)
        open.push({ server: closable(server), azurite })
        server.listen(account.port, host)
        await once(server, 'listening')
        ports[account.account] = portOf(server)
      }
      return ports
    },
    async close(): Promise<void> {
      await Promise.all(
        open.map(async ({ server, azurite }) => {
          azurite.close()
          await server.close(0)
        }),
      )
    },
  }
}

function serverOf(account: BlobAccount, azurite: AzuriteConnection, options: BlobEndpointsOptions) {
  const sequencer = createSequencer(options.persisted, account.account, options.clock.now())
  const watch = createBlobWatch({ account: account.account, sequencer, ask: azurite.ask })
  const serve = createService(account, azurite, watch, options)
  const server = createServer({
    headersTimeout: blobLimits.headersMs,
    // Not for the whole request: an upload may take long.
    requestTimeout: 0,
    keepAliveTimeout: blobLimits.silenceMs,
    connectionsCheckingInterval: 5_000,
  })
  server.maxConnections = blobLimits.connections
  server.timeout = blobLimits.silenceMs
  server.on('request', (request, response) => serve(request, response, { waits: false }))
  server.on('checkContinue', (request, response) => serve(request, response, { waits: true }))
  server.on('clientError', answerClientError)
  return server
}

function createService(
  served: BlobAccount,
  azurite: AzuriteConnection,
  watch: BlobWatch,
  options: BlobEndpointsOptions,
) {
  const { account, azurite: address } = served
  const { clock, faults, full, raise } = options

  /** Raises the events of a request, and records it. */
  function publish(request: IncomingMessage, status: number, events: readonly object[]): void {
    if (events.length > 0) recordRaw(options, 'blob', request, { status, publish: raise(served, events) })
  }

  async function refuse(request: IncomingMessage, response: ServerResponse, refusal: StorageRefusal): Promise<void> {
    const { status, code, message } = refusal
    recordRaw(options, 'blob', request, { status, code, message, publish: { topic: account } })
    await refuseCall(request, response, refusal)
  }

  /** Applies an injected fault. Returns whether the request is answered with it. */
  async function fails(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
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
      await refuse(request, response, { status, code: code ?? usualStorageCode(status), message, retryAfter })
    return drop === true || status !== undefined
  }

  /** Hands a call to Azurite, which takes one call of a blob after the other, and raises its events before its answer goes out. */
  async function handOver(
    request: IncomingMessage,
    response: ServerResponse,
    call: BlobCall | undefined,
    waits: boolean,
  ): Promise<void> {
    if (!call) return answerWith(response, await azurite.handOn({ request, response, waits, outlives: false }))
    const { host = '' } = request.headers
    const isRead = call.action === 'Read'
    const known = watch.facts(call)
    const isKept = call.action === 'PutBlockList' || call.action === 'Batch'
    const kept = isKept ? createKept() : undefined
    let turn: BlobTurn | undefined
    let isOver = false
    const beforeEnd = async () => {
      turn = await watch.takeTurn({ call, host, body: kept?.text() })
      if (isOver) turn.end()
    }
    try {
      const answer = await azurite.handOn({
        ...{ request, response, waits, outlives: !isRead, onPiece: kept?.add },
        ...(!isRead && { beforeEnd }),
      })
      const { statusCode: status = 502, headers } = answer
      const watched = { call, host, body: kept?.text(), before: isRead ? known : turn?.before }
      if (call.action !== 'Batch') {
        // Before the client has its answer: who waits for pending events then waits for these too.
        publish(request, status, await watch.answered({ ...watched, answer: { status, headers } }))
        return answerWith(response, answer)
      }
      const parts = await wholeBody(answer)
      const text = { contentType: headers['content-type'], body: parts.toString() }
      publish(request, status, await watch.answeredBatch(watched, text))
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
    const { method = '', url = '', headers } = request
    if (await fails(request, response)) return
    const call = blobCallOf(account, headers.host ?? '', { method, url, headers })
    if (call && raising.has(call.action) && full()) {
      const message = 'The emulator holds as many undelivered events as maxPending and maxPendingBytes allow.'
      return refuse(request, response, { status: 503, code: 'ServerBusy', message, retryAfter: 1 })
    }
    try {
      await handOver(request, response, call, waits)
    } catch (error) {
      if (response.headersSent || response.destroyed) return void response.destroy()
      await refuse(request, response, refusalOf(error, address))
    }
  }

  return (request: IncomingMessage, response: ServerResponse, { waits }: { readonly waits: boolean }): void => {
    // A client that goes away is no failure of the emulator.
    request.on('error', () => response.destroy())
    response.on('error', () => response.destroy())
    answer(request, response, waits).catch(() => response.destroy())
  }
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
  const remedy = 'Start Azurite there, or give another URL in storage.'
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
    text: () => (bytes > blobLimits.keptBytes ? undefined : Buffer.concat(pieces).toString()),
  }
}

/** Throws a NoAnswerError for a body that breaks off, or that is too long. */
async function wholeBody(answer: IncomingMessage): Promise<Buffer> {
  const kept: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of answer) {
      kept.push(piece)
      bytes += piece.length
      if (bytes > blobLimits.keptBytes) throw new NoAnswerError('its answer to a batch is too long')
    }
  } catch (cause) {
    throw cause instanceof NoAnswerError ? cause : new NoAnswerError('its answer broke off', { cause })
  }
  return Buffer.concat(kept)
}
