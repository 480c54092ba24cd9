/** Loads gRPC, whose packages a user installs only for `serve` and for the gRPC ports of `run`; says how where they are missing. */
import { UsageError } from '../../support/command-line/options.ts'
import { codeOf } from '../../support/process/error-code.ts'

/** The versions of the optional peers of package.json; a test compares both. */
export const grpcPackages = ['@grpc/grpc-js@1', '@grpc/proto-loader@0.8', '@grpc/reflection@1'] as const

/**
 * Loads a file that imports gRPC.
 *
 * @param what the command or option that needs gRPC
 * @throws UsageError where a package of gRPC is not installed
 */
export async function loadGrpc<T>(what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new UsageError(`${what} needs gRPC: npm install ${grpcPackages.join(' ')}`, { cause: error })
  }
}
