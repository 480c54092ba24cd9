// A folder of a test's own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes an empty folder in the system's temporary one; the test's end removes it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'eventgrid-binding-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
