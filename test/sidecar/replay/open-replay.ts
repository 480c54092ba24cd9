import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import type { EventGridEmulatorOptions } from '../../../packages/emulator/src/index.ts'
import * as command from '../../../src/sidecar/cli/commands/replay.ts'
import { createTerminal } from '../../../src/support/command-line/terminal.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../../support/component-folder.ts'
import { startEmulator } from '../../support/start-emulator.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** An emulator, the component `orders` that publishes to its topic, and a folder for dead letters. */
export async function openReplay(options: EventGridEmulatorOptions = {}) {
  const emulator = await startEmulator(options)
  const folder = makeComponentFolder()
  const dead = temporaryFolder()
  writeSecretStore(folder, emulator, ['orders'])
  const component = (fields: Readonly<Record<string, string | undefined>> = {}) =>
    folder.write('orders.yaml', componentYaml(emulator, { handshakePort: '9000', fields }))
  component()
  const given = ['--components', folder.path, '--component', 'orders', '--emulator', emulator.endpoints.resourceManager]
  async function run(...args: readonly string[]) {
    const written: string[] = []
    const terminal = createTerminal({ write: (more) => written.push(more) })
    const code = await command.run(args, terminal, new AbortController().signal)
    return { code, text: written.join('') }
  }
  return {
    emulator,
    dead,
    component,
    /** The options of each run. */
    given,
    at: (name: string) => join(dead, name),
    /** Writes a file as Azure names them, or any text. */
    write(name: string, content: unknown): string {
      const path = join(dead, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
      return path
    },
    /** Runs the command in this process, with these arguments. */
    run,
    /** The same, on the emulator. */
    replay: (...args: readonly string[]) => run(...given, ...args),
    /** Waits until so many more events are published. */
    async more(count: number) {
      const published = () => emulator.figures().published
      const enough = published() + count
      await expect.poll(published, { interval: 5 }).toBeGreaterThan(enough)
    },
    /** The events that the topic took, in order, also those that it took twice. */
    published(): readonly Record<string, unknown>[] {
      const requests = emulator.records.requests.all()
      return requests
        .filter(({ route, status }) => route === 'topic' && status === 200)
        .flatMap(({ body }) => body ?? []) as never
    },
  }
}

/** A dead letter of a topic with CloudEvents. */
export const letter = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ specversion: '1.0', id, source: '/shop', type: 'order.placed', subject: 'orders/1' },
  ...{ time: '2026-01-05T10:00:00Z', data: { order: 1 } },
  ...{ deadletterreason: 'MaxDeliveryAttemptsExceeded', deliveryattempts: 3, lastdeliveryoutcome: 'NotFound' },
  ...{ publishtime: '2026-01-05T10:00:01Z', lastdeliveryattempttime: '2026-01-05T10:05:00Z' },
  ...more,
})

export const letters = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, at) => letter(`${prefix}${at}`))

/** A dead letter of a topic with the Event Grid schema. */
export const eventGridLetter = (id: string, more: Readonly<Record<string, unknown>> = {}) => ({
  ...{ id, eventTime: '2026-01-05T10:00:00Z', eventType: 'order.placed', dataVersion: '1.0', metadataVersion: '1' },
  ...{ topic: '/subscriptions/s/resourceGroups/rg/providers/Microsoft.EventGrid/topics/orders' },
  ...{ subject: 'orders/1', data: { order: 1 } },
  ...{ deadLetterReason: 'MaxDeliveryAttemptsExceeded', deliveryAttempts: 3, lastDeliveryOutcome: 'NotFound' },
  ...{ lastHttpStatusCode: 404, publishTime: '2026-01-05T10:00:01Z', lastDeliveryAttemptTime: '2026-01-05T10:05:00Z' },
  ...more,
})
