#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { emulate, emulateHelp } from './commands/emulate.ts'
import { createTerminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

interface Command {
  readonly about: string
  readonly help: string
  /** Resolves with the exit code. */
  run(args: readonly string[]): Promise<number>
}

const terminal = createTerminal(process.stdout)

const commands: Readonly<Record<string, Command>> = {
  emulate: {
    about: 'a local Event Grid, with Resource Manager and Entra',
    help: emulateHelp,
    run: (args) => emulate(args, terminal),
  },
}

const help = `Usage: eventgrid-binding <command> [options]

Commands:
${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

Options:
  -h, --help     this text, or that of a command
  -v, --version  the version

Exit codes: 0 a clean end, 1 a failure, 2 wrong usage or configuration, 130 or 143 a second signal.
`

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h') {
    process.stdout.write(help)
    return 0
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${version()}\n`)
    return 0
  }
  const command = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) {
    const complaint = name === undefined ? 'a command is missing' : `there is no command ${JSON.stringify(name)}`
    process.stderr.write(`eventgrid-binding: ${complaint}\n\n${help}`)
    return 2
  }
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(command.help)
    return 0
  }
  try {
    return await command.run(args)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const wrongUse = error instanceof UsageError
    process.stderr.write(
      `eventgrid-binding ${name}: ${message}\n${wrongUse && error.showHelp ? `\n${command.help}` : ''}`,
    )
    return wrongUse ? 2 : 1
  }
}

function version(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return version
}

// Whoever read our lines has gone, as `| head` does: that is a wish to end.
process.stdout.on('error', () => {})
process.stdout.once('error', () => process.kill(process.pid, 'SIGTERM'))
process.exitCode = await main(process.argv.slice(2))
