import { expect, it } from 'vitest'
import { defaultEmulator, withEmulatorUrl } from '../../../src/sidecar/cli/options/emulator-option.ts'
import { startCommand } from '../../support/command.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'
import { makeSocketFolder } from '../../support/socket-folder.ts'

const component = (value: string) => `apiVersion: dapr.io/v1alpha1
kind: Component
metadata: { name: orders }
spec:
  type: bindings.azure.eventgrid
  version: v1
  metadata:
    - { name: topicEndpoint, value: "https://${value}.example.com/api/events" }
    - { name: accessKey, value: k }
`

it.each(
  ['{namespace}', '{appID}'].flatMap((placeholder) => [
    { placeholder, name: 'run', more: ['--http-port', '0'], remedy: 'start with --app-id' },
    { placeholder, name: 'check', more: ['--offline'], remedy: 'set APP_ID in the environment' },
    { placeholder, name: 'provision', more: [], remedy: 'set APP_ID in the environment' },
    { placeholder, name: 'replay', more: ['--component', 'orders', '.'], remedy: 'set APP_ID in the environment' },
  ]),
)('$name says of $placeholder what gives it a value there', async ({ placeholder, name, more, remedy }) => {
  const folder = makeComponentFolder()
  folder.write('orders.yaml', component(placeholder))
  const command = startCommand([name, '--components', folder.path, ...more])
  await command.ended
  expect(command.lines.join('\n')).toContain(`refers to ${placeholder}, which has no value`)
  expect(command.lines.join('\n')).toContain(remedy)
})

it('check takes the value of APP_ID', async () => {
  const folder = makeComponentFolder()
  folder.write('orders.yaml', component('{appID}'))
  const command = startCommand(['check', '--components', folder.path, '--offline'], { APP_ID: 'shop' })
  expect(await command.ended).toBe(0)
})

it.each(['run', 'serve', 'check', 'provision', 'replay'])(
  '%s refuses an address of the emulator without its scheme, and shows a URL',
  async (name) => {
    const folder = makeComponentFolder()
    folder.write('orders.yaml', component('orders'))
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
