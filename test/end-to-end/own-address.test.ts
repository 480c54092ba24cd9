import { Binding } from 'eventgrid-binding'
import { expect, it, onTestFinished } from 'vitest'
import { startEmulator } from '../support/start-emulator.ts'

// Of 127.0.0.0/8 macOS has 127.0.0.1 alone. Azure's SDKs reach no address of IPv6.
const addresses = process.platform === 'darwin' ? [] : ['127.0.0.9']

it.each(['0.0.0.0', '::', 'localhost', ...addresses])(
  'does the main job at the addresses that it names when it listens on %s',
  async (host) => {
    const emulator = await startEmulator({ host })
    const handled: unknown[] = []
    const binding = new Binding({
      endpoints: emulator.endpoints,
      onEvent: ({ cloudEvent }) => void handled.push(cloudEvent.data),
    })
    onTestFinished(() => binding.close())
    await emulator.connect(binding, { topic: 'orders' })
    await binding.invoke('create', { order: 1 })
    await emulator.settled()
    expect(handled).toEqual([{ order: 1 }])
  },
)
