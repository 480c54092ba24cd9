import { openLedger } from '../../../src/sidecar/replay/ledger.ts'

/** A process that opens the ledger of a folder at a given time, says whether it could, and keeps it until the next message. */
process.on('message', ({ folder, at }: { readonly folder: string; readonly at: number }) => {
  let taken = true
  while (Date.now() < at);
  try {
    openLedger([folder], { readOnly: false })
  } catch {
    taken = false
  }
  process.send?.(taken)
})
