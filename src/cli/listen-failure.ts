import { codeOf, messageOf } from '../support/error-code.ts'
/** What to do about a server that could not listen where the options `--<server>-address` and `--<server>-port` say. */
export function listenFailure(
  cause: unknown,
  server: 'http' | 'grpc' | 'metrics',
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  if (codeOf(cause) === 'EADDRINUSE') {
    return new Error(`port ${port} is in use; free it, or choose another by --${server}-port`, { cause })
  }
  const address = server === 'grpc' ? 'http' : server
  return new Error(`--${address}-address ${host}: ${messageOf(cause)}`, { cause })
}
