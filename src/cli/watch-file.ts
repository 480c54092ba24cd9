import { unwatchFile, watchFile } from 'node:fs'
import { readText } from './read-text.ts'

const pollMs = 250

/**
 * Calls back with a file's text each time that it has changed, or with the error that reading it ended in. Looks at the file itself a few times a second:
 * editors and mounted volumes replace files in more ways than the system's notices tell. Returns how to stop.
 */
export function watchText(file: string, known: string, changed: (text: string | Error) => void): () => void {
  let last: string | undefined = known
  const look = () => {
    let text: string
    try {
      text = readText(file)
    } catch (error) {
      last = undefined
      changed(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (text === last) return
    last = text
    changed(text)
  }
  watchFile(file, { interval: pollMs }, look)
  return () => unwatchFile(file, look)
}
