#!/usr/bin/env node
import type { Command } from './command.ts'
import { createTerminal, printable } from './terminal.ts'
import { UsageError } from './usage-error.ts'
import { packageVersion } from './version.ts'

interface Entry {
  readonly about: string
  load(): Promise<Command>
}

const commands: Readonly<Record<string, Entry>> = {
  serve: {
    about: 'the component for a Dapr sidecar, over gRPC on Unix domain sockets',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  emulate: {
    about: 'a local Event Grid, with Resource Manager and Entra',
    load: async () => (await import('./commands/emulate.ts')).emulate,
  },
  run: {
    about: "components beside an application, with Dapr's HTTP API for bindings",
    load: async () => (await import('./commands/run.ts')).run,
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
  if (name === '--help' || name === '-h') return print(help)
  if (name === '--version' || name === '-v') return print(`${packageVersion()}\n`)
  const entry = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!entry) {
    const complaint = name === undefined ? 'a command is missing' : `there is no command ${JSON.stringify(name)}`
    process.stderr.write(`eventgrid-binding: ${complaint}\n\n${help}`)
    return 2
  }
  const command = await entry.load()
  if (args.includes('--help') || args.includes('-h')) return print(command.help)
  try {
    return await command.run(args, createTerminal(process.stdout))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const lines = message.split('\n').map(printable).join('\n')
    const wrongUse = error instanceof UsageError
    const more = wrongUse && error.showHelp ? `\n${command.help}` : ''
    process.stderr.write(`eventgrid-binding ${name}: ${lines}\n${more}`)
    return wrongUse ? 2 : 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}

for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
// Whoever read our lines has gone, as `| head` does: for a command that runs until a signal that is one.
process.stdout.once('error', () => void process.emit('SIGTERM', 'SIGTERM'))
process.exitCode = await main(process.argv.slice(2))
