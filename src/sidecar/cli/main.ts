#!/usr/bin/env node
// Program start: Node version complaint.
import { complaintAboutNode } from '../../support/process/node-version.ts'

// All else is imported after this: a Node that is too old ends over an import it does not
// know before any line of ours runs.
const complaint = complaintAboutNode(process.versions.node, import.meta.url, 'eventgrid-binding')
if (complaint === undefined) {
  const [{ main }, { endProcessSoon }] = await Promise.all([
    import('./program.ts'),
    import('../../support/command-line/end-process.ts'),
  ])
  endProcessSoon(await main(process.argv.slice(2)))
} else {
  process.stderr.write(`${complaint}\n`)
  process.exitCode = 1
}
