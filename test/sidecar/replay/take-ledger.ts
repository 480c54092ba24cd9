import { openLedger } from '../../../src/sidecar/replay/ledger.ts'

/** A process that says when it listens, opens the ledger of a folder at a given time, says whether it could, and keeps it. */
process.on('message', async ({ folder, at }: { readonly folder: string; readonly at: number }) => {
  while (Date.now() < at);
  const taken = await openLedger([folder], { target: 'https://topic.example.com/api/events', readOnly: false }).then(
    () => true,
    () => false,
  )
  process.send?.(taken)
})
process.send?.('listens')
