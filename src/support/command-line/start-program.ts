/** Starts a program, or prints an error where the version of Node is too old. */
import module from 'node:module'
import { complaintAboutNode } from '../process/runtime.ts'

/**
 * Callers do not await the result: the bundle is CommonJS, which has no top-level `await`.
 *
 * @param program the URL of the file that runs
 * @param name of the package
 * @param load imports the program. This file imports nothing that an old Node does not know: such an import would fail before the version
 *   is checked
 */
export async function startProgram(
  program: string,
  name: string,
  load: () => Promise<{ main(args: readonly string[]): Promise<number> }>,
): Promise<void> {
  // The exit code of a program that ends before its command says how it ended.
  process.exitCode = 1
  const complaint = complaintAboutNode(process.versions.node, program, name)
  if (complaint !== undefined) {
    process.stderr.write(`${complaint}\n`)
    return
  }
  // The next start need not compile all again. Node keeps it in NODE_COMPILE_CACHE, or where temporary files are.
  module.enableCompileCache()
  const [{ main }, { endProcessSoon }] = await Promise.all([load(), import('./run-command.ts')])
  endProcessSoon(await main(process.argv.slice(2)))
}
