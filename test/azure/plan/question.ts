/** The question before anything is made. */
import { createInterface } from 'node:readline/promises'
import { UsageError } from '../../../src/support/command-line/options.ts'

/** Resolves with whether the answer is yes. Throws a UsageError where nobody can answer. */
export async function askYes(
  { input, output }: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream },
  question: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!input.isTTY) throw new UsageError('nobody can be asked here: --yes says yes')
  const lines = createInterface({ input, output })
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `, { signal })).trim())
  } finally {
    lines.close()
  }
}
