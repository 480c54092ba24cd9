// Error text for a `--components` folder or file that can't be read.
import { codeOf, messageOf } from '../../../support/process/error-code.ts'
import { UsageError } from '../usage-error.ts'

/** The usage error for a path of `--components` that can't be read. */
export function unreadableComponents(path: string, error: unknown): UsageError {
  const fix = codeOf(error) === 'ENOENT' ? '; make the folder, or correct --components' : ''
  return new UsageError(`--components ${path} can't be read: ${messageOf(error)}${fix}`, { cause: error })
}
