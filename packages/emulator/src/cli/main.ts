#!/usr/bin/env node
/** The start of the program: a Node that is too old is told, any other runs it. */
import module from 'node:module'
import { complaintAboutNode } from '../../../../src/support/process/runtime.ts'

// All else is imported after this: a Node that is too old ends over an import it does not
// know before any line of ours runs.
const complaint = complaintAboutNode(process.versions.node, import.meta.url, 'eventgrid-emulator')
if (complaint === undefined) {
  // The next start need not compile all again. Node keeps it in NODE_COMPILE_CACHE, or where temporary files are.
  module.enableCompileCache()
  start()
} else {
  process.stderr.write(`${complaint}\n`)
  process.exitCode = 1
}

/** Not awaited above: the bundle is CommonJS, which knows no `await` outside of functions. */
async function start(): Promise<void> {
  // The exit code of a program that ends before its command says how it ended.
  process.exitCode = 1
  const [{ main }, { endProcessSoon }] = await Promise.all([
    import('./program.ts'),
    import('../../../../src/support/command-line/run-command.ts'),
  ])
  endProcessSoon(await main(process.argv.slice(2)))
}
