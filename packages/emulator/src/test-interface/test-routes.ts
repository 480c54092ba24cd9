/** Who may call the interface under `/emulator/`, and how its answers and refusals are sent. */
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { isForeignPage, isOwnHost } from '../../../../src/support/net/hosts.ts'
import { codeOf, messageOf } from '../../../../src/support/process/error-code.ts'
import { isRecord, readJson } from '../../../../src/support/text/json-text.ts'
import { queryOf } from '../server/service.ts'
import { requestToPublish } from './actions.ts'
import { createLiveStream } from './live-stream.ts'
import { createLiveView, type LiveSources } from './live-view.ts'
import { openApiDocument } from './open-api.ts'
import type { Live, TestedEmulator, TestOperation } from './operation.ts'
import { operations } from './operations.ts'
import { problemBody, problemType, TestInterfaceProblem } from './problem.ts'
import { readBody, readQuery } from './read-request.ts'

const root = '/emulator'
const defaultBodyLimit = 65_536

/** Whether a path belongs to the interface, which is served over plain http too. */
export const isTestPath = (path: string): boolean => /^\/emulator\//.test(path)

const safeHeaders = {
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

export interface TestRouteOptions extends LiveSources {
  /** The address that the emulator listens on. */
  readonly host: string
  /** Undefined until it is made: it listens a moment earlier. */
  readonly emulator: () => TestedEmulator | undefined
  readonly engine: LiveSources['engine'] & { full(): boolean }
}

/** Adds the routes. `app` is a Fastify scope of their own. */
export function registerTestRoutes(app: FastifyInstance, options: TestRouteOptions): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safeHeaders)
    if (isForeign(request, options.host)) throw new TestInterfaceProblem(403, foreign)
  })
  app.setErrorHandler((error, _request, reply) => {
    const { status, message, more } = problemOf(error)
    return refuse(reply, status, message, more)
  })

  const view = createLiveView(options)
  const stream = createLiveStream(view)
  view.listen(stream)
  app.addHook('onClose', async () => stream.close())
  const live: Live = {
    sources: options,
    state: () => stream.state(),
    figures: view.figures,
    subscriptions: view.subscriptions,
    search: view.search,
    async publish(topic, text) {
      const answer = await app.inject(await requestToPublish(options, topic, text))
      const { code, message } = refusalAnswer.parse(readJson(answer.body))?.error ?? {}
      return { status: answer.statusCode, ...(code !== undefined && { code, message: message ?? '' }) }
    },
  }
  for (const operation of operations) serve(app, operation, { ...options, live, stream })
  // One route for all that is refused: each emulator that starts pays for each route.
  app.all(`${root}/*`, { exposeHeadRoute: false }, (request, reply) => {
    const { pathname } = new URL(request.url, 'http://emulator')
    const methods = operations.filter(({ path }) => patternOf(path).test(pathname)).map(({ method }) => method)
    if (methods.length === 0) {
      throw new TestInterfaceProblem(404, `there is no such path; GET ${root}/openapi.json has them all`)
    }
    reply.header('allow', methods.join(', '))
    return refuse(reply, 405, `${request.method} is not allowed here: ${methods.join(' and ')} ${one(methods)}`)
  })
}

const patternOf = (path: string) => new RegExp(`^${path.replace(/\{\w+\}/, '[^/]+')}$`)

/** What the answer of a topic or a namespace topic says of a refusal. */
const refusalAnswer = z
  .looseObject({ error: z.looseObject({ code: z.string(), message: z.exactOptional(z.string()) }) })
  .optional()
  .catch(undefined)

const one = (methods: readonly unknown[]) => (methods.length === 1 ? 'is' : 'are')

interface ServeOptions extends TestRouteOptions {
  readonly live: Live
  readonly stream: ReturnType<typeof createLiveStream>
}

function serve(app: FastifyInstance, operation: TestOperation, options: ServeOptions): void {
  const { method, path, query, body, needsBody, bodyLimit = defaultBodyLimit, answer } = operation
  app.route<{ Params: { name?: string } }>({
    ...{ method, url: path.replace(/\{\w+\}/, ':name'), bodyLimit, exposeHeadRoute: false },
    async handler(request, reply) {
      if (operation.isStream) return openStream(options.stream, reply)
      const emulator = options.emulator()
      if (!emulator) throw new TestInterfaceProblem(503, 'the emulator is starting')
      const call = {
        emulator,
        isFull: options.engine.full,
        name: request.params.name ?? '',
        live: options.live,
        query: readQuery(query, queryOf(request)),
        body: readBody(body, Buffer.isBuffer(request.body) ? request.body : undefined, needsBody),
        document: () => openApiDocument(options.addresses.http),
      }
      const result = await run(operation, call)
      if (!answer) return reply.code(204).send()
      return reply
        .type('application/json; charset=utf-8')
        .send(Readable.from(jsonPieces(result), { objectMode: false }))
    },
  })
}

function openStream(stream: ReturnType<typeof createLiveStream>, reply: FastifyReply): FastifyReply {
  const { raw } = reply
  reply.hijack()
  raw.on('error', () => raw.destroy())
  raw.writeHead(200, { ...safeHeaders, 'content-type': 'text/event-stream; charset=utf-8' })
  if (!stream.join(raw)) raw.end('event: full\ndata: {}\n\n')
  return reply
}

/** The JSON of an answer piece by piece: a list of long events is longer than one text may be. */
function* jsonPieces(answer: unknown): Generator<string> {
  if (!isRecord(answer)) return yield JSON.stringify(answer)
  const given = Object.entries(answer).filter(([, value]) => value !== undefined)
  for (const [index, [name, value]] of given.entries()) {
    yield `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`
    if (!Array.isArray(value)) yield JSON.stringify(value)
    else if (value.length === 0) yield '[]'
    else for (const [at, one] of value.entries()) yield `${at === 0 ? '[' : ','}${JSON.stringify(one)}`
    if (Array.isArray(value) && value.length > 0) yield ']'
  }
  yield given.length === 0 ? '{}' : '}'
}

/** The emulator's errors are the refusals: a RangeError or a TypeError is the caller's fault. */
async function run({ run, unknown = 400 }: TestOperation, call: Parameters<TestOperation['run']>[0]): Promise<unknown> {
  try {
    return await run(call)
  } catch (error) {
    if (error instanceof RangeError) throw new TestInterfaceProblem(unknown, error.message)
    if (error instanceof TypeError) throw new TestInterfaceProblem(400, error.message)
    throw error
  }
}

const foreign = 'only programs of this machine, and pages of the emulator itself, may ask here'

/** As for the page: another site's page, or a host name that was made to point here (DNS rebinding). */
const isForeign = (request: FastifyRequest, host: string): boolean =>
  !isOwnHost(request, host) || isForeignPage(request)

function problemOf(error: unknown): TestInterfaceProblem {
  if (error instanceof TestInterfaceProblem) return error
  if (codeOf(error) === 'FST_ERR_CTP_BODY_TOO_LARGE') return new TestInterfaceProblem(413, 'the body is too long')
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500
  return status < 500
    ? new TestInterfaceProblem(400, 'the request could not be read')
    : new TestInterfaceProblem(500, `the emulator failed: ${messageOf(error)}`)
}

function refuse(reply: FastifyReply, status: number, detail: string, more?: Readonly<Record<string, unknown>>) {
  return reply
    .code(status)
    .type(problemType)
    .send(JSON.stringify(problemBody(status, detail, more)))
}
