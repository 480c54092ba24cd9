import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startCommand, startProcess } from '../../support/command.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'
import { letter, openReplay } from '../replay/open-replay.ts'

const option = '--disallow-code-generation-from-strings'
const hardened = { NODE_OPTIONS: option }
const said = 'Code generation from strings disallowed for this context'

describe(`with NODE_OPTIONS=${option}`, () => {
  it.each([
    { name: 'serve', args: () => ['--sockets-folder', makeSocketFolder()] },
    { name: 'emulate', args: () => ['--port', '0', '--http-port', '0'] },
  ])('$name ends with 1 and one line of Node', async ({ name, args }) => {
    const command = startCommand([name, ...args()], hardened)
    expect(await command.ended).toBe(1)
    expect(command.lines).toEqual([`eventgrid-binding ${name}: ${said}`])
  })

  it.each([['schema'], ['init', '--help'], ['--version']])('%s %s works', async (...args) => {
    expect(await startCommand(args, hardened).ended).toBe(0)
  })

  it('provision and replay work', async () => {
    const { given, write, component, published } = await openReplay()
    component({ provisioning: 'manage' })
    const start = (name: string, ...args: readonly string[]) => startCommand([name, ...args], hardened)
    const replay = start('replay', ...given, write('a.json', [letter('a')]))
    expect([await replay.ended, published().map(({ id }) => id)]).toEqual([0, ['a']])
    const provision = start('provision', ...given, '--dry-run')
    // A dry run ends with 3 where there is something to write.
    expect(await provision.ended).toBe(3)
  })

  const source = (file: string) => JSON.stringify(resolve(import.meta.dirname, '../../..', file))
  const program = `
    const { Binding } = await import(${source('src/index.ts')})
    const { EventGridEmulator } = await import(${source('packages/emulator/src/index.ts')})
    const output = { topicEndpoint: 'https://orders.example.com', accessKey: 'k' }
    const pull = { deliveryMode: 'pull', provisioning: 'none', eventSubscriptionName: 'app', namespaceKey: 'k',
      namespaceEndpoint: 'https://localhost:1', namespaceTopic: '/subscriptions/a/resourceGroups/b/providers/Microsoft.EventGrid/namespaces/c/topics/d' }
    const push = { provisioning: 'none', eventSubscriptionName: 'orders', scope: '/subscriptions/a',
      subscriberEndpoint: 'https://orders.example.com', handshakePort: '0', deliveryToken: '0123456789abcdef' }
    for (const metadata of [output, pull, push]) {
      const binding = new Binding()
      await binding.init(metadata).then(() => console.log('ready'), ({ message }) => console.log(message))
      await binding.close()
    }
    await EventGridEmulator.start().catch(({ message }) => console.log(message))
  `

  it('the library publishes and pulls, and what listens rejects', async () => {
    const quiet = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program]
    const library = startProcess(process.execPath, quiet, hardened)
    expect(await library.ended).toBe(0)
    const refused = expect.stringMatching(`^PORT_UNAVAILABLE: .*${option}`)
    expect(library.lines).toEqual(['ready', 'ready', refused, said])
  })
})
