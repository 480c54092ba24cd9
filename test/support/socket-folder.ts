import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty folder whose path is short, as those of sockets have to be; the test's end removes it. */
export function makeSocketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eb-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
