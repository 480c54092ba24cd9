import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ClientRequest, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { isRecord } from '../../src/support/text/json-text.ts'
import { pullByKey, startNamespace } from './scripted-namespace.ts'

/** What becomes of the next request of a kind. `lost`: it is done, and its answer never arrives. `hangs`: it is not, and has no answer. */
export type Trouble = 'none' | 'busy' | 'failed' | 'refused' | 'page' | 'cut' | 'lost' | 'hangs' | 'token fails'

/** One event in the queue. */
export interface Queued {
  readonly text: string
  deliveryCount: number
  /** When it can be received. */
  availableAt: number
  lock: { readonly token: string; endsAt: number } | undefined
  end: 'acknowledge' | 'reject' | undefined
}

const lockMs = 60_000
const requestId = 'x-ms-client-request-id'

const troubles: Partial<Record<Trouble, { status: number; headers?: Record<string, string>; body?: string }>> = {
  busy: { status: 429, headers: { 'retry-after': '7' } },
  failed: { status: 503 },
  refused: { status: 401 },
  page: { status: 200, body: '<html>Sign in first</html>' },
}

/**
 * A Queue event subscription that keeps its locks, delays and counts, as Event Grid does, and stumbles when it is told to. Time is
 * that of the caller. `onSettle` sees each settlement that is asked for, whether the lock still holds or not.
 */
export async function startQueue(now: () => number, onSettle: (operation: string, event: Queued) => void) {
  let events: Queued[] = []
  let waiting: {
    readonly id: string
    readonly response: ServerResponse
    readonly max: number
    readonly until: number
  }[] = []
  const byToken = new Map<string, Queued>()
  const next: Record<'receive' | 'settle', Trouble[]> = { receive: [], settle: [] }

  /** Ids of the requests that have no whole answer yet, as the client sees it. */
  const asked = new Set<string>()
  /** Those that never get one. */
  const hung = new Set<string>()

  const { namespaceEndpoint, binding } = await startNamespace(async (request, response) => {
    const id = String(request.headers[requestId])
    const [, operation = ''] = /:(\w+)\?/.exec(request.url ?? '') ?? []
    const query = new URL(request.url ?? '', namespaceEndpoint).searchParams
    const body = await readText(request).catch(() => undefined)
    // The client gave up.
    if (body === undefined) return
    const kind = operation === 'receive' ? 'receive' : 'settle'
    const trouble = next[kind].shift() ?? 'none'
    const refusal = troubles[trouble]
    if (refusal) response.writeHead(refusal.status, refusal.headers).end(refusal.body)
    else if (trouble === 'cut') response.destroy()
    else if (kind === 'receive') {
      const until = now() + Number(query.get('maxWaitTime')) * 1000
      const receive = { id, response, max: Number(query.get('maxEvents')), until }
      if (trouble === 'lost' || trouble === 'hangs') {
        lock(receive.max)
        if (trouble === 'lost') response.destroy()
        else hung.add(id)
      } else {
        waiting.push(receive)
        serve()
      }
    } else if (trouble === 'hangs') hung.add(id)
    else {
      const tokens: string[] = JSON.parse(body).lockTokens
      const failed = settle(operation, tokens, Number(query.get('releaseDelayInSeconds')), trouble === 'token fails')
      if (trouble === 'lost') response.destroy()
      else {
        const succeeded = tokens.filter((token) => !failed.some(({ lockToken }) => lockToken === token))
        response.end(JSON.stringify({ failedLockTokens: failed, succeededLockTokens: succeeded }))
      }
    }
  })

  const watch = (message: unknown) => {
    const request = isRecord(message) ? message.request : undefined
    if (!(request instanceof ClientRequest) || request.getHeader('host') !== new URL(namespaceEndpoint).host) return
    const id = String(request.getHeader(requestId))
    asked.add(id)
    request.once('close', () => asked.delete(id))
  }
  subscribe('http.client.request.start', watch)
  onTestFinished(() => void unsubscribe('http.client.request.start', watch))

  function lock(max: number): Queued[] {
    const locked = events.filter((event) => isFree(event)).slice(0, max)
    for (const event of locked) {
      const token = `token-${byToken.size}`
      byToken.set(token, event)
      event.deliveryCount++
      event.lock = { token, endsAt: now() + lockMs }
    }
    return locked
  }

  function isFree({ end, lock, availableAt }: Queued): boolean {
    return end === undefined && availableAt <= now() && (lock === undefined || lock.endsAt <= now())
  }

  /** Answers the receives that wait: with events where there are any, else when their time is over. */
  function serve(): void {
    waiting = waiting.filter(({ response, max, until }) => {
      if (response.destroyed) return false
      const locked = lock(max)
      if (locked.length === 0 && until > now()) return true
      const value = locked.map(({ text, deliveryCount, lock }) => {
        const broker = JSON.stringify({ lockToken: lock?.token, deliveryCount })
        return `{"brokerProperties":${broker},"event":${text}}`
      })
      response.end(`{"value":[${value}]}`)
      return false
    })
  }

  function settle(operation: string, tokens: readonly string[], delaySeconds: number, firstFails: boolean) {
    return tokens.flatMap((lockToken, index) => {
      const event = byToken.get(lockToken)
      if (event) onSettle(operation, event)
      const fails = (code: string) => [{ lockToken, error: { code, message: '' } }]
      if (index === 0 && firstFails) return fails('InternalServerError')
      if (!event || event.end || event.lock?.token !== lockToken || event.lock.endsAt <= now())
        return fails('TokenLost')
      if (operation === 'renewLock') event.lock.endsAt = now() + lockMs
      else {
        event.lock = undefined
        event.availableAt = now() + delaySeconds * 1000
        if (operation === 'acknowledge' || operation === 'reject') event.end = operation
      }
      return []
    })
  }

  return {
    properties: pullByKey(namespaceEndpoint),
    endpoints: binding.endpoints,
    next,
    events: () => events,
    serve,
    /** No request is on its way, and no answer: only time can bring the next one. */
    isQuiet: () => [...asked].every((id) => hung.has(id) || waiting.some((receive) => receive.id === id)),
    publish(text: string): void {
      events.push({ text, deliveryCount: 0, availableAt: 0, lock: undefined, end: undefined })
      serve()
    },
    /** Ends locks early, as a namespace that was moved does. */
    loseLocks(): void {
      for (const event of events) event.lock = undefined
      serve()
    },
    /** Ends each receive that waits. */
    clear(): void {
      events = []
      byToken.clear()
      next.receive = []
      next.settle = []
      for (const { response } of waiting) response.destroy()
      waiting = []
    },
  }
}
