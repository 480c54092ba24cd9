import { expect } from 'vitest'
import { startCommand } from '../support/command.ts'
import { componentYaml, makeComponentFolder, writeSecretStore } from '../support/component-folder.ts'
import { freePort } from '../support/free-port.ts'
import { answering } from '../support/servers.ts'
import { makeSocketFolder } from '../support/socket-folder.ts'
import { openStack, withDaprd } from './stack.ts'

withDaprd.for([
  {
    name: 'ignores that its Init fails',
    type: 'bindings.cloud.eventrouter',
    portOf: async () => Number(new URL(await answering(200)).port),
    says: /PORT_UNAVAILABLE/,
  },
  {
    name: 'ignores a type that it does not know',
    type: 'bindings.azure.eventgrids',
    portOf: freePort,
    says: /eventgrids/,
  },
])('a daprd that $name goes on; metric, readiness and check tell of it', async ({ type, portOf, says }) => {
  const { emulator, components, serve, startDaprd } = await openStack()
  const handshakePort = String(await portOf())
  const yaml = componentYaml(emulator, { handshakePort, fields: { direction: 'input', listenAddress: '127.0.0.1' } })
  components.write(
    'orders.yaml',
    yaml.replace(/type: .*/, `type: ${type}`).replace('  version: v1', '  version: v1\n  ignoreErrors: true'),
  )
  const sockets = makeSocketFolder()
  const serving = await serve(sockets, ['--metrics-port', '0'])
  const [, port] = await serving.line(/health and metrics are served .*port=(\d+)/)
  const sidecar = `http://127.0.0.1:${port}`
  const daprd = await startDaprd({ sockets })
  await daprd.ready()

  expect(daprd.lines.join('\n')).toMatch(says)
  expect(await (await fetch(`${sidecar}/metrics`)).text()).toMatch(/^eventgrid_binding_uninitialised 1$/m)
  expect((await fetch(`${sidecar}/readyz`)).status).toBe(503)

  // The folder that daprd was meant to load.
  const meant = makeComponentFolder()
  writeSecretStore(meant, emulator, ['orders'])
  meant.write('orders.yaml', yaml)
  const check = startCommand(['check', '--components', meant.path, '--only', 'machine/sidecar', '--sidecar', sidecar])
  expect(await check.ended).toBe(1)
  expect(check.lines.join('\n')).toMatch(/✗ machine\/sidecar +the input side is not initialised[\s\S]*restart daprd/i)
})
