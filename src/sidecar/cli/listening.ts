/** What is said where a server cannot listen: the option that names its port or address. */
import { codeOf, messageOf } from '../../support/process/error-code.ts'

/**
 * Has a server listen where the options `--<server>-address` and `--<server>-port` say. Rejects with an Error that says what to do
 * where it can't.
 */
export async function listening<T>(
  server: 'http' | 'grpc' | 'metrics',
  { host, port }: { readonly host: string; readonly port: number },
  listen: () => Promise<T>,
): Promise<T> {
  try {
    return await listen()
  } catch (cause) {
    if (codeOf(cause) === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use; free it, or choose another by --${server}-port`, { cause })
    }
    const address = server === 'grpc' ? 'http' : server
    throw new Error(`--${address}-address ${host}: ${messageOf(cause)}`, { cause })
  }
}
