/** Which Azure host names the CONNECT proxy answers for with the emulator's certificate; all others are refused with 403. */
import type { Server as HttpServer, IncomingMessage } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Duplex } from 'node:stream'

/** Azure's host names that the emulator answers for. */
const azureHosts = new Set([
  'login.microsoftonline.com',
  'login.windows.net',
  'login.microsoft.com',
  'sts.windows.net',
  'login.microsoftonline.us',
  'login.partner.microsoftonline.cn',
  'login.chinacloudapi.cn',
  'management.azure.com',
  'management.usgovcloudapi.net',
  'management.chinacloudapi.cn',
])
const topicHost = /^[a-z\d-]+\.[a-z\d-]+\.eventgrid\.azure\.(net|us|cn)$/

/**
 * Makes the http server a CONNECT proxy for clients with Azure's fixed host names
 * (`HTTPS_PROXY=http://127.0.0.1:{httpPort}`). Our https server answers for these hosts, with a certificate of our
 * authority. Nothing is tunnelled anywhere else: any other host is answered 403.
 */
export function addConnectProxy(
  http: HttpServer,
  https: HttpServer | HttpsServer,
  ownHosts: () => readonly string[],
): void {
  http.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (!answersFor(request.url ?? '', ownHosts())) {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
      return
    }
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    // Sockets of an http server would stay half open if the client disconnects before its handshake.
    socket.allowHalfOpen = false
    if (head.length > 0) socket.unshift(head)
    https.emit('connection', socket)
  })
}

/** Whether a host name is one of Azure's that the emulator answers for. */
export const isAzureHost = (host: string): boolean => azureHosts.has(host) || topicHost.test(host)

/** Whether the proxy answers for `host:port`: Azure's hosts at port 443, and the emulator's own addresses. */
export function answersFor(authority: string, own: readonly string[]): boolean {
  const [, host = '', port = ''] = /^(.*?):(\d+)$/.exec(authority.toLowerCase()) ?? []
  return own.includes(`${host}:${port}`) || (port === '443' && isAzureHost(host))
}

/**
 * The path on the emulator for a path at a host of Event Grid: that of a custom topic or, with `/topics/` at its
 * beginning, of a namespace; `undefined` for any other host.
 */
export function pathOfHost(host: string | undefined, path: string): string | undefined {
  const name = topicOfHost(host)
  if (name === undefined) return undefined
  return path.startsWith('/topics/') ? `/namespaces/${name}${path}` : `/topics/${name}${path}`
}

/** The region in a host name of Event Grid: `westeurope` of `orders.westeurope-1.eventgrid.azure.net`. */
export const regionOfHost = (host: string | undefined) => namesOf(host)[1]?.replace(/-\d+$/, '')

/** The topic or namespace that a host name of Event Grid belongs to. */
export const topicOfHost = (host: string | undefined) => namesOf(host)[0]

function namesOf(host = ''): readonly string[] {
  const name = host.toLowerCase().replace(/:\d+$/, '')
  return topicHost.test(name) ? name.split('.') : []
}
