import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import { type ClosableServer, closable } from '../../support/closable-server.ts'
import { ArmError, armErrors } from '../arm/errors.ts'
import { type CertificateAuthority, loopbackHosts } from './certificates.ts'
import { addConnectProxy, topicOfHost } from './connect-proxy.ts'
import {
  answerClientError,
  type ConnectionLimits,
  connectionLimits,
  guardServer,
  refuseConnect,
  serverOptions,
} from './unreadable-request.ts'

/** The emulator's two ports, over one set of routes. */
export interface EmulatorServer {
  readonly app: FastifyInstance
  /** Binds both ports; resolves with their numbers. */
  listen(host: string, port: number, httpPort: number): Promise<{ readonly port: number; readonly httpPort: number }>
  close(): Promise<void>
}

/** Room for the longest Event Grid request, and for Fastify's own routes to set less. */
const longestBodyBytes = 4 * 1024 * 1024

/**
 * Makes the https server (everything) and the http one (topics, and the CONNECT proxy). Routes are added to `app`
 * before `listen`. ARM and Entra are not there over plain http: a request for them is told so.
 */
export function createEmulatorServer(
  authority: CertificateAuthority,
  isPlainPath: (path: string) => boolean,
  limits: ConnectionLimits = connectionLimits,
): EmulatorServer {
  const leaf = authority.issue(loopbackHosts)
  // One for each address of a name. They count connections that come through the proxy as well.
  const secure: ClosableServer[] = []
  const app = fastify({
    logger: false,
    bodyLimit: longestBodyBytes,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 4096 },
    rewriteUrl: (request) => {
      const topic = topicOfHost(request.headers.host)
      return topic === undefined ? (request.url ?? '/') : `/topics/${topic}${request.url ?? '/'}`
    },
    // Fastify types this reply by the route that was not found, hence the detour over the raw answer.
    frameworkErrors: (_error, _request, reply) => sendRaw(reply.raw, armErrors.badUrl()),
    clientErrorHandler: answerClientError,
    serverFactory: (handler) => {
      const server = createHttpsServer(
        {
          ...serverOptions(limits),
          handshakeTimeout: limits.headersMs,
          key: leaf.key,
          cert: leaf.certificate,
          SNICallback: (host, done) => done(null, authority.contextFor(host.toLowerCase())),
        },
        handler,
      )
      guardServer(server, limits)
      refuseConnect(server)
      secure.push(closable(server))
      return server
    },
  })
  app.decorateRequest('outcome')
  app.addHook('onRequest', async (request) => {
    request.outcome = {}
  })
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof ArmError ? error : armErrors.internal()
    return reply.code(known.status).send(known.body)
  })

  app.addHook('preClose', async () => {
    for (const server of secure) server.endConnections(0)
  })
  let plain: ClosableServer | undefined

  return {
    app,
    async listen(host, port, httpPort) {
      await app.ready()
      const http = createHttpServer(serverOptions(limits), (request, response) => {
        const path = request.url ?? '/'
        if (isPlainPath(path) || topicOfHost(request.headers.host)) app.routing(request, response)
        else {
          request.resume()
          sendRaw(response, armErrors.httpsRequired())
        }
      })
      guardServer(http, limits)
      http.on('clientError', answerClientError)
      plain = closable(http)
      const own = { https: 0 }
      const { server } = app
      addConnectProxy(http, server, () => loopbackHosts.map((name) => `${name}:${own.https}`))
      await app.listen({ host, port })
      own.https = portOf(server.address())
      http.listen(httpPort, host)
      await once(http, 'listening')
      return { port: own.https, httpPort: portOf(http.address()) }
    },
    async close() {
      await Promise.all([app.close(), plain?.close(0)])
    },
  }
}

function sendRaw(response: ServerResponse, { status, body }: ArmError): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0
}
