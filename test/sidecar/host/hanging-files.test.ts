import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCommand } from '../../support/command.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'
import { openHostWorld } from './open-host.ts'

function makePipe(folder: string, name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return path
}

/**
 * Has a process begin with a read that never ends, as on a network mount that hangs, and say when it listens for
 * signals. With one thread for files all later reads wait for that one.
 */
function withHangingRead({ threads }: { readonly threads: number }) {
  const pipe = makePipe(makeComponentFolder().path, 'never-written')
  const script = `import { readFile } from 'node:fs'
readFile(${JSON.stringify(pipe)}, () => {})
setInterval(() => process.listenerCount('SIGTERM') > 0 && console.log('listens'), 10).unref()`
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    UV_THREADPOOL_SIZE: String(threads),
  }
}

it.each(['--ca', '--state'])('does not start an emulator with a pipe as %s, and names it', async (option) => {
  const pipe = makePipe(makeComponentFolder().path, 'pipe')
  const command = startCommand(['emulate', '--port', '0', '--http-port', '0', option, pipe])
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain(`${pipe} is not a regular file`)
})

it('does not start with a pipe among the component files, and names it', async () => {
  const folder = makeComponentFolder()
  makePipe(folder.path, 'orders.yaml')
  const command = startCommand(['run', '--components', folder.path, '--http-port', '0'])
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain("orders.yaml can't be read: it is a pipe, a socket or a device")
})

it('goes on where a pipe comes among the component files, and still ends', async () => {
  const world = await openHostWorld()
  const host = world.start()
  await host.api
  makePipe(world.folder.path, 'parcels.yaml')
  await host.line(/parcels\.yaml can't be read: it is a pipe/)
  host.process.kill('SIGTERM')
  expect(await host.ended).toBe(0)
})

it('does not wait for a secrets file that is a pipe', async () => {
  const folder = makeComponentFolder()
  const command = startCommand(['run', '--components', folder.path, '--secrets', makePipe(folder.path, 'secrets')])
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain("secrets can't be read: it is a pipe, a socket or a device")
})

it('ends with 0 at a signal though a file system hangs', async () => {
  const folder = makeComponentFolder()
  const command = startCommand(
    ['run', '--components', folder.path, '--http-port', '0'],
    withHangingRead({ threads: 4 }),
  )
  await command.line(/ ready/)
  command.process.kill('SIGTERM')
  expect(await command.ended).toBe(0)
})

it('ends with 0 at a signal while it waits for a component folder that hangs', async () => {
  const folder = makeComponentFolder()
  const command = startCommand(['run', '--components', folder.path], withHangingRead({ threads: 1 }))
  await command.line(/^listens/)
  command.process.kill('SIGTERM')
  expect(await command.ended).toBe(0)
})

it('ends at two signals in a row while it waits for a component folder that hangs', async () => {
  const folder = makeComponentFolder()
  const command = startCommand(['run', '--components', folder.path], withHangingRead({ threads: 1 }))
  await command.line(/^listens/)
  command.process.kill('SIGTERM')
  command.process.kill('SIGTERM')
  expect([0, 143]).toContain(await command.ended)
})
