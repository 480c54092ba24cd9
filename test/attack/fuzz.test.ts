import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { openListener, proof } from '../listener/open-listener.ts'
import { anyText } from '../support/any-text.ts'

/**
 * Bodies and headers made by fast-check against a listener that takes everything its handler is given: `FUZZ_BODIES` of them, from
 * `FUZZ_SEED` (printed with the long form). No answer may be a 5xx, and no rejection may be unhandled.
 */
const bodies = Number(process.env.FUZZ_BODIES ?? 2_000)
const seed = Number(process.env.FUZZ_SEED ?? (process.env.FUZZ_BODIES ? Date.now() % 2 ** 31 : 20_261_121))

const names = [
  ...['specversion', 'id', 'source', 'type', 'eventType', 'topic', 'subject', 'eventTime', 'time', 'data'],
  ...['__proto__', 'constructor', 'data_base64', 'datacontenttype', 'toString', ''],
]
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, anyText({ maxLength: 8 }))
const value = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('1.0', '1.1', '2.0', 'x', '', 0, null, true, [], {}) },
  { weight: 2, arbitrary: anyText({ maxLength: 20 }) },
  fc.jsonValue({ maxDepth: 3 }),
)
const object = fc.uniqueArray(fc.tuple(key, value), { maxLength: 8, selector: ([name]) => name }).map(textOf)
const whole = fc
  .tuple(fc.constantFrom('cloud', 'grid'), anyText({ maxLength: 12 }), value, object)
  .map(([kind, id, data, more]) => {
    const event =
      kind === 'cloud'
        ? { specversion: '1.0', id, source: '/s', type: 't', data }
        : { id, topic: '/t', subject: '', eventType: 'e', eventTime: 'now', data }
    const text = JSON.stringify(event)
    return more === '{}' ? text : `${text.slice(0, -1)},${more.slice(1)}`
  })
const member = fc.oneof(
  { weight: 3, arbitrary: whole },
  object,
  fc.json({ maxDepth: 4 }),
  fc.constantFrom('', 'nul', '[', ']', '{', '"', ',', '1e999', '\\u0000'),
)
const text = fc.oneof(
  member,
  fc.array(member, { maxLength: 6 }).map((all) => `[${all.join()}]`),
)

/** What a text becomes on the way: itself, cut, with bytes changed, twice, or with other bytes before it. */
const damage = fc.oneof(
  { weight: 4, arbitrary: fc.constant((whole: Buffer) => whole) },
  fc.nat().map((at) => (whole: Buffer) => whole.subarray(0, at % (whole.length + 1))),
  fc.tuple(fc.nat(), fc.nat(255)).map(([at, byte]) => (whole: Buffer) => {
    const changed = Buffer.from(whole)
    if (changed.length > 0) changed[at % changed.length] = byte
    return changed
  }),
  fc.constant((whole: Buffer) => Buffer.concat([whole, whole])),
  fc.uint8Array({ maxLength: 4 }).map((prefix) => (whole: Buffer) => Buffer.concat([prefix, whole])),
)
const body = fc.oneof(
  { weight: 9, arbitrary: fc.tuple(text, damage).map(([made, change]) => change(Buffer.from(made))) },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
)

const token = fc
  .string({ unit: fc.constantFrom(...'abcXYZ0189-_.*;=/ "\xe9'), maxLength: 20 })
  .map((made) => made.trim())
const usual = <T>(most: T, other: fc.Arbitrary<T>) => fc.oneof({ weight: 8, arbitrary: fc.constant(most) }, other)
const headers = fc.record({
  'content-type': usual(
    'application/cloudevents+json; charset=utf-8',
    fc.oneof(token, fc.constantFrom('application/json', 'application/x+json;charset=utf-16', '+json')),
  ),
  'content-encoding': usual('', token),
  'aeg-event-type': usual(
    'Notification',
    fc.oneof(token, fc.constantFrom('SubscriptionValidation', 'SubscriptionDeletion')),
  ),
  'aeg-subscription-name': usual('ORDERS', token),
  'aeg-delivery-count': usual('0', fc.oneof(token, fc.constantFrom('1', '-1', '99999999999', '1e3'))),
  'x-eventgrid-binding-token': usual(Object.values(proof)[0] ?? '', token),
  authorization: usual('', token),
})
const method = usual('POST', fc.constantFrom('POST', 'OPTIONS', 'GET', 'PUT', 'DELETE'))
const path = usual(
  '/api/events',
  token.map((made) => `/${made.replaceAll(' ', '')}`),
)

it(`answers ${bodies} generated requests without a 5xx, and hands on only what it acknowledges`, {
  timeout: 24 * 3_600_000,
}, async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown) => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  onTestFinished(() => void process.off('unhandledRejection', hear))
  let handled = 0
  const { listener, log } = await openListener({ handler: () => void handled++, input: { maxConcurrency: 64 } })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  onTestFinished(() => agent.destroy())
  const send = (made: Made) => exchange(listener.address.port, agent, made)
  const counts = new Map<number, number>()
  const started = performance.now()
  const requests = fc.record({ method, path, headers, body })
  // By the batch, since a property for each would wait for its own answer.
  await fc.assert(
    fc.asyncProperty(fc.array(requests, { minLength: 50, maxLength: 50 }), async (batch) => {
      for (const status of await Promise.all(batch.map(send))) {
        counts.set(status, (counts.get(status) ?? 0) + 1)
        // 503: no credential, in our name; another reason there is none.
        if (!documented.has(status)) throw new Error(`answered ${status}`)
      }
      expect(listener.status()).toMatchObject({ running: 0, waiting: 0 })
    }),
    { numRuns: Math.ceil(bodies / 50), seed, ...(process.env.FUZZ_BODIES && { endOnFailure: true }) },
  )
  const seconds = Math.round((performance.now() - started) / 100) / 10
  const statuses = Object.fromEntries([...counts].sort(([one], [other]) => one - other))
  if (process.env.FUZZ_BODIES) console.log(JSON.stringify({ bodies, seed, seconds, handled, statuses }))
  expect(unheard).toEqual([])
  expect(counts.get(200)).toBeGreaterThan(bodies / 20)
  expect(counts.get(400)).toBeGreaterThan(bodies / 20)
  expect(handled).toBeGreaterThan(bodies / 20)
  // One line for each kind of refusal in half a minute, whatever the number, and one for each of 16 other event subscriptions.
  expect(log.lines.length).toBeLessThan(20 + 16 + seconds * 2)
})

/** Closed without an answer: a path that is not HTTP. */
const closed = 0
const documented = new Set([closed, 200, 400, 401, 403, 404, 405, 413, 415, 503])

interface Made {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

function exchange(port: number, agent: Agent, { headers: all, body: sent, ...made }: Made): Promise<number> {
  const present = Object.fromEntries(Object.entries(all).filter(([, text]) => text !== ''))
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const out = request({
    host: '127.0.0.1',
    port,
    agent,
    ...made,
    headers: { ...present, 'content-length': sent.length },
  })
  out.on('response', (answer) => {
    const status = answer.statusCode ?? 0
    let content = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk: string) => {
      content += chunk
    })
    answer.on('end', () => {
      // The one 5xx that a head alone may bring: no credential that is known, in our name.
      if (status >= 500 && !content.includes('no credential that is known')) reject(new Error(`${status}: ${content}`))
      else resolve(status)
    })
  })
  out.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve(closed) : reject(error)))
  out.end(sent)
  return promise
}

function textOf(members: readonly (readonly [string, unknown])[]): string {
  return `{${members.map(([name, content]) => `${JSON.stringify(name)}:${JSON.stringify(content)}`).join()}}`
}
