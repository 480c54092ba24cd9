/** Serves the operations of the interface under `/emulator/`: who may ask, what is read, how refusals look. Nothing of it is recorded. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isForeignFetch, isOfPage, isOwnHost, isOwnOrigin } from '../../../../src/support/net/request-origin.ts'
import { codeOf, messageOf } from '../../../../src/support/process/error-code.ts'
import { queryOf } from '../server/query.ts'
import { openApiDocument } from './open-api.ts'
import { operations, type TestOperation } from './operations.ts'
import { problemBody, problemType, TestInterfaceProblem } from './problem.ts'
import { readBody, readQuery } from './read-request.ts'
import type { TestedEmulator } from './tested-emulator.ts'

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

export interface TestRouteOptions {
  /** The address that the emulator listens on. */
  readonly host: string
  readonly addresses: { readonly http: string }
  /** Undefined until it is made: it listens a moment earlier. */
  readonly emulator: () => TestedEmulator | undefined
  readonly engine: { full(): boolean }
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

  for (const operation of operations) serve(app, operation, options)
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

const patternOf = (path: string) => new RegExp(`^${path.replace('{name}', '[^/]+')}$`)

const one = (methods: readonly unknown[]) => (methods.length === 1 ? 'is' : 'are')

function serve(app: FastifyInstance, operation: TestOperation, options: TestRouteOptions): void {
  const { method, path, query, body, needsBody, bodyLimit = defaultBodyLimit, answer } = operation
  app.route<{ Params: { name?: string } }>({
    ...{ method, url: path.replace('{name}', ':name'), bodyLimit, exposeHeadRoute: false },
    async handler(request, reply) {
      const emulator = options.emulator()
      if (!emulator) throw new TestInterfaceProblem(503, 'the emulator is starting')
      const call = {
        emulator,
        isFull: options.engine.full,
        name: request.params.name ?? '',
        query: readQuery(query, queryOf(request)),
        body: readBody(body, Buffer.isBuffer(request.body) ? request.body : undefined, needsBody),
        document: () => openApiDocument(options.addresses.http),
      }
      const result = await run(operation, call)
      if (!answer) return reply.code(204).send()
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(result))
    },
  })
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
  !isOwnHost(request, host) || (isOfPage(request) && (!isOwnOrigin(request) || isForeignFetch(request)))

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
