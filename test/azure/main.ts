/** `npm run test:azure`: arguments in, exit code out. */

import { UsageError } from '../../src/support/command-line/options.ts'
import { awaitEnd, exitCodeOf } from '../../src/support/command-line/run-command.ts'
import { messageOf } from '../../src/support/process/error-code.ts'
import { printable } from '../../src/support/text/text.ts'
import { systemClock } from '../../src/support/time/clock.ts'
import { help, readOptions } from './plan/options.ts'
import { askYes } from './plan/question.ts'
import { runAzure } from './run.ts'
import { targetOf } from './wire/target.ts'

const args = process.argv.slice(2)
if (args.includes('--help') || args.includes('-h')) process.stdout.write(help)
else process.exitCode = await main()

async function main(): Promise<number> {
  const { stopping } = awaitEnd()
  stopping.addEventListener('abort', () => {
    console.error('ending; what was made is deleted. A second signal ends at once, and leaves it to --clean')
  })
  try {
    const options = readOptions(args, process.env)
    const { good } = await runAzure(options, {
      target: await targetOf(options.emulator, process.env),
      clock: systemClock,
      signal: stopping,
      say: (line) => console.log(printable(line)),
      confirm: (question) => askYes({ input: process.stdin, output: process.stdout }, question, stopping),
      env: process.env,
    })
    if (stopping.aborted) return exitCodeOf(stopping)
    return good ? 0 : 1
  } catch (error) {
    if (stopping.aborted) return exitCodeOf(stopping)
    const isWrongUse = error instanceof UsageError
    console.error(`test:azure: ${messageOf(error)}`)
    if (isWrongUse && error.showHelp) console.error('see: npm run test:azure -- --help')
    return isWrongUse ? 2 : 1
  }
}
