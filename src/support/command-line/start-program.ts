/** The start of a program: a Node that is too old is told, any other runs the program. */
import module from 'node:module'
import { complaintAboutNode } from '../process/runtime.ts'

/**
 * Is not awaited by its callers: the bundle is CommonJS, which knows no `await` outside of functions.
 *
 * @param program the URL of the file that runs
 * @param name of the package
 * @param load imports the program. All else is imported by it and below: a Node that is too old ends over an import it does not know
 *   before any line of ours runs
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
