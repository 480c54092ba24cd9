import { expect, it } from 'vitest'
import { defaultEmulator, withEmulatorUrl } from '../../../../src/sidecar/cli/options/emulator-option.ts'
import { startCommand } from '../../../support/command.ts'
import { componentFile, makeComponentFolder } from '../../../support/component-folder.ts'
import { makeSocketFolder } from '../../../support/socket-folder.ts'

const component = componentFile('orders', { topicEndpoint: 'https://orders.example.com/api/events', accessKey: 'k' })

it.each(['run', 'serve', 'check', 'provision', 'replay'])(
  '%s refuses an address of the emulator without its scheme, and shows a URL',
  async (name) => {
    const folder = makeComponentFolder()
    folder.write('orders.yaml', component)
    const place =
      name === 'serve'
        ? ['--sockets-folder', makeSocketFolder()]
        : ['--components', folder.path, '--component', 'orders']
    const given = name === 'run' ? place.slice(0, 2) : place
    const command = startCommand([name, ...given, '--emulator', 'localhost:4430', ...(name === 'replay' ? ['.'] : [])])
    expect(await command.ended).toBe(2)
    expect(command.lines.join('\n')).toContain(`such as ${defaultEmulator}, not "localhost:4430"`)
  },
)

it.each([
  ...[
    'http://localhost:4431',
    'HTTPS://127.0.0.1:4430/',
    'ftp://localhost',
    'localhost',
    'localhost/',
    'localhost:4430/page',
  ],
  ...[
    '127.0.0.1',
    '127.0.0.1:4430',
    '[::1]:4430',
    '[::1]',
    '::1',
    'emulator:4430',
    'emulator.shop.svc.cluster.local:4430',
  ],
])('takes %s after --emulator for its value', (address) => {
  expect(withEmulatorUrl(['--emulator', address, 'DIR'])).toEqual(['--emulator', address, 'DIR'])
})

it.each(['DIR', './dead', '/var/dead/2026/01', 'C:\\dead', 'dead.json', '--json', '.'])(
  'takes %s after --emulator for something else',
  (next) => expect(withEmulatorUrl(['--emulator', next])).toEqual([`--emulator=${defaultEmulator}`, next]),
)
