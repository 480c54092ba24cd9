import { onTestFinished } from 'vitest'
import { EventGridEmulator, type EventGridEmulatorOptions } from '../../packages/emulator/src/index.ts'

/** Starts an emulator on free ports; the test's end closes it. */
export async function startEmulator(options: EventGridEmulatorOptions = {}): Promise<EventGridEmulator> {
  const emulator = await EventGridEmulator.start({ port: 0, httpPort: 0, ...options })
  onTestFinished(() => emulator.close())
  return emulator
}
