/** Which requests reach the https and the http port, by host name, path and length. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import fastify from 'fastify'
import { type ClosableServer, closable } from '../../../../src/support/net/closable-server.ts'
import { isForeignPage, isOfPage, isOwnHost } from '../../../../src/support/net/hosts.ts'
import { portOf } from './shared-port.ts'
import { type CertificateAuthority, loopbackHosts } from './tls/certificates.ts'
import { addConnectProxy, pathOfHost, topicOfHost } from './tls/connect-proxy.ts'
import type { IngressFront } from './tls/ingress-front.ts'
import {
  answerClientError,
  type ConnectionLimits,
  connectionLimits,
  guardServer,
  type Refusal,
  refusals,
  refuseConnect,
  sendRefusal,
  serverOptions,
  takeRest,
} from './unreadable-request.ts'

/** The largest body of any route; each scope sets its own, lower limit. */
const maxBodyBytes = 4 * 1024 * 1024

interface Ports {
  readonly port: number
  readonly httpPort: number
}

/**
 * Makes the https server (all routes) and the http server (topics, page and the CONNECT proxy). Routes are added to
 * `app` before `listen`. `host` is what clients reach them by, beside the loopback names. A request for ARM or Entra over
 * plain http is answered 403, one for another path 404. Paths that guard themselves refuse other web pages in a form of their own.
 */
export function createEmulatorServer(
  authority: CertificateAuthority,
  host: string,
  isPlainPath: (path: string) => boolean,
  limits: ConnectionLimits = connectionLimits,
  answersAsIngress: IngressFront = () => false,
  refused: (request: IncomingMessage, refusal: Refusal) => void = () => {},
  guardsItself: (path: string) => boolean = () => false,
) {
  const ownHosts = [...new Set([...loopbackHosts, host])]
  let listeningOn = host
  const tls = authority.serverSettings(ownHosts)
  // One for each address of a name. They count connections that come through the proxy as well.
  const secure: ClosableServer[] = []
  const app = fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 4096 },
    rewriteUrl: ({ headers, url = '/' }) => pathOfHost(headers.host, url) ?? pathOfTopic(url) ?? url,
    // Fastify types this reply by the route that was not found, hence the raw answer.
    frameworkErrors: (_error, request, reply) => sendRefusal(request.raw, reply.raw, 'badUrl'),
    clientErrorHandler: answerClientError,
    serverFactory: (handler) => {
      const server = createHttpsServer(
        {
          ...serverOptions(limits),
          handshakeTimeout: limits.handshakeMs,
          ...tls,
        },
        (request, response) => {
          if (!answersAsIngress(request, response)) handler(request, response)
        },
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
  // Before any service: a page of another site must not reach one, nor a page whose name was made to point here (DNS rebinding).
  app.addHook('onRequest', async (request, reply) => {
    if (guardsItself(request.url)) return
    if (!isForeignPage(request) && (!isOfPage(request) || isOwnHost(request, listeningOn))) return
    const { status, ...error } = refusals.webPage
    refused(request.raw, refusals.webPage)
    return reply.code(status).send({ error })
  })
  // All routes of all scopes: 413, 401, 404, 415 and injected faults are decided before the body is read.
  app.addHook('onSend', async (request, _reply, payload) => {
    await takeRest(request.raw)
    return payload
  })
  app.setErrorHandler((_error, _request, reply) => {
    const { status, ...error } = refusals.internal
    return reply.code(status).send({ error })
  })

  app.addHook('preClose', async () => {
    for (const server of secure) server.endConnections(0)
  })
  let plain: ClosableServer | undefined

  return {
    app,
    /** Binds both ports; resolves with their numbers. */
    async listen(host: string, ports: Ports) {
      listeningOn = host
      await app.ready()
      const http = createHttpServer(serverOptions(limits), (request, response) => {
        const path = request.url ?? '/'
        const isPlain = isPlainPath(path) || topicOfHost(request.headers.host) || pathOfTopic(path)
        if (isPlain) {
          app.routing(request, response)
          return
        }
        const refusal = isSecurePath(path) ? 'httpsRequired' : 'noPath'
        refused(request, refusals[refusal])
        sendRefusal(request, response, refusal)
      })
      guardServer(http, limits)
      http.on('clientError', answerClientError)
      plain = closable(http)
      const own = { https: 0 }
      const { server } = app
      addConnectProxy(http, server, () => ownHosts.map((name) => `${name}:${own.https}`))
      await app.listen({ host, port: ports.port })
      own.https = portOf(server)
      http.listen(ports.httpPort, host)
      await once(http, 'listening')
      return { port: own.https, httpPort: portOf(http) }
    },
    async close(): Promise<void> {
      await Promise.all([app.close(), plain?.close(0)])
    },
  }
}

/** The path of the topic that a short one means, as other emulators have it: `/{topic}/api/events`. Undefined for any other path. */
function pathOfTopic(url: string): string | undefined {
  const [, name, rest] = /^\/([^/?]+)(\/api\/(?:events|health)(?:\?.*)?)$/.exec(url) ?? []
  return name === undefined || name === 'topics' ? undefined : `/topics/${name}${rest}`
}

/** The paths of Resource Manager and Entra, which Azure refuses over plain http. All others do not exist. */
const isSecurePath = (path: string) =>
  /^\/(subscriptions|providers|metadata|tenants)\b|\/(oauth2|discovery|\.well-known)\//i.test(path)
