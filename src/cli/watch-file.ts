import { statSync } from 'node:fs'
import { readText } from './read-text.ts'

const pollMs = 250

/**
 * Calls back with the text of a file after each change, or with the error of reading it. Polls: editors and mounted
 * volumes replace files in ways that the system does not report. A pipe can be read only once, and so has no changes. Returns how to stop.
 */
export function watchText(file: string, known: string, changed: (text: string | Error) => void): () => void {
  let text: string | undefined = known
  let state: string | undefined
  const look = () => {
    const found = stateOf(file)
    if (found === undefined || found === state) return
    state = found
    try {
      const fresh = readText(file)
      if (fresh === text) return
      text = fresh
    } catch (error) {
      text = undefined
      return changed(error instanceof Error ? error : new Error(String(error)))
    }
    changed(text)
  }
  const timer = setInterval(look, pollMs)
  return () => clearInterval(timer)
}

/** Differs after each write; undefined for a folder or a pipe. */
function stateOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true })
    return found.isFile() ? `${found.dev} ${found.ino} ${found.size} ${found.mtimeNs}` : undefined
  } catch {
    return 'none'
  }
}
