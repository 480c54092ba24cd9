import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../../../../test/support/command.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { startProgram } from '../support/program.ts'

/** A topic as the banner shows it. */
export interface ShownTopic {
  readonly endpoint: string
  readonly httpEndpoint: string
  readonly key: string
  readonly scope: string
}

/** `eventgrid-emulator` that is up. */
export interface EmulateCommand extends Command {
  readonly resourceManager: string
  readonly proxy: string
  topic(name: string): Promise<ShownTopic>
  /** The lines to paste into a shell. */
  environment(): string[]
}

/** Writes a configuration file into a folder of its own. */
export function configFile(text: string, name = 'emulator.yaml'): string {
  const file = join(temporaryFolder(), name)
  writeFileSync(file, text)
  return file
}

/** Starts it on free ports and waits until it is ready. What it writes besides goes to a folder of the test. @param start by another command */
export async function startEmulate(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  start = startProgram,
): Promise<EmulateCommand> {
  const ports = ['--port', '0', '--http-port', '0']
  const command = start([...ports, ...args], { TMPDIR: temporaryFolder(), ...env })
  const [, resourceManager = '', proxy = ''] = await command.line(/ready: (https:\S+) (http:\S+)$/)
  return {
    ...command,
    resourceManager,
    proxy,
    async topic(name) {
      await command.line(new RegExp(`^topic ${name}$`))
      const [endpoint = '', httpEndpoint = '', key = '', scope = ''] = command.lines
        .slice(command.lines.lastIndexOf(`topic ${name}`) + 1)
        .map((line) => line.trim().split(/\s+/)[1] ?? '')
      return { endpoint, httpEndpoint, key, scope }
    },
    environment: () => command.lines.filter((line) => line.startsWith('export ')),
  }
}

/** Publishes CloudEvents with these ids over http. */
export function publish({ httpEndpoint, key }: ShownTopic, ids: readonly string[]): Promise<Response> {
  const events = ids.map((id) => ({ specversion: '1.0', id, source: '/shop', type: 'order.placed', data: { id } }))
  return fetch(httpEndpoint, {
    method: 'POST',
    headers: { 'aeg-sas-key': key, 'content-type': 'application/cloudevents-batch+json' },
    body: JSON.stringify(events),
  })
}

/** A configuration whose event subscription `audit` is served at a local address. */
export function auditConfig(subscriberUrl: string, more = ''): string {
  return `
topics:
  - name: orders
eventSubscriptions:
  - name: audit
    topic: orders
    endpoint: https://audit.example/api/events?code=s3cret
ingress:
  - from: https://audit.example/
    to: ${subscriberUrl}
retrySchedule: [20]
${more}`
}
