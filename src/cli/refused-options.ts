import { nearestName } from '../metadata/nearest-name.ts'
import { UsageError } from './usage-error.ts'

/** What to say where Node's `parseArgs` refuses the options: its message, and for an unknown one the option that was probably meant. */
export function refusedOptions(error: unknown, known: readonly string[]): UsageError {
  const message = error instanceof Error ? error.message : String(error)
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
  const meant = unknown === undefined ? undefined : nearestName(unknown, known)
  const complaint = meant === undefined ? message : `${message}; did you mean --${meant}?`
  return new UsageError(complaint, { showHelp: true, cause: error })
}
