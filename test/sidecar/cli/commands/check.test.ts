import { expect, it } from 'vitest'
import { startCommand } from '../../../support/command.ts'
import {
  componentYaml,
  emulatorVariables,
  makeComponentFolder,
  writeSecretStore,
} from '../../../support/component-folder.ts'
import { freePort } from '../../../support/free-port.ts'
import { startEmulator } from '../../../support/start-emulator.ts'

it('prints the report alone with --json, asks an emulator, and ends with 0', async () => {
  const emulator = await startEmulator()
  const folder = makeComponentFolder()
  const port = await freePort()
  emulator.useIngress('https://orders.example.com/', `http://127.0.0.1:${port}/`)
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort: String(port) }))
  writeSecretStore(folder, emulator, ['orders'])
  // The URL of the page does as well.
  const command = startCommand(['check', '--components', folder.path, '--emulator', emulator.proxy, '--json'])
  expect(await command.ended).toBe(0)
  expect(command.lines).toHaveLength(1)
  expect(JSON.parse(command.lines[0] ?? '')).toMatchObject({ version: 1, ok: true, components: [{ name: 'orders' }] })
})

it('ends with 1 for a sole broken file, and with 2 where there is no component', async () => {
  const folder = makeComponentFolder()
  const empty = startCommand(['check', '--components', folder.path])
  expect(await empty.ended).toBe(2)
  expect(empty.lines.join('\n')).toContain('holds no component of type')
  folder.write('broken.yaml', 'a: [')
  const broken = startCommand(['check', '--components', folder.path, '--offline'])
  expect(await broken.ended).toBe(1)
  expect(broken.lines.join('\n')).toMatch(/^no component .*broken\.yaml\n {2}✗ files\/yaml/)
})

it('says what to do where the client may not read the registration of the provider', async () => {
  const emulator = await startEmulator()
  const folder = makeComponentFolder()
  folder.write('orders.yaml', componentYaml(emulator, { handshakePort: '9000' }))
  writeSecretStore(folder, emulator, ['orders'])
  const args = ['--components', folder.path, '--only', 'azure/provider']
  const check = startCommand(['check', ...args], emulatorVariables(emulator, folder.path))
  await check.ended
  expect(check.lines.join('\n')).toMatch(
    /! azure\/provider .* may not be read by this client\n +→ .*role Reader.*:\n +az provider show /,
  )
})
