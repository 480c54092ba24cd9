import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startCommand } from '../../support/command.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

function makePipe(): string {
  const path = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [path])
  return path
}

/**
 * Has a process begin with a read that never ends, as on a network mount that hangs, and say when it listens for
 * signals. With one thread for files all later reads wait for that one.
 */
function withHangingRead({ threads }: { readonly threads: number }) {
  const pipe = makePipe()
  const script = `import { readFile } from 'node:fs'
readFile(${JSON.stringify(pipe)}, () => {})
setInterval(() => process.listenerCount('SIGTERM') > 0 && console.log('listens'), 10).unref()`
  return {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    UV_THREADPOOL_SIZE: String(threads),
  }
}

it.each(['--ca', '--state'])('does not start an emulator with a pipe as %s, and names it', async (option) => {
  const pipe = makePipe()
  const command = startCommand(['emulate', '--port', '0', '--http-port', '0', option, pipe])
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain(`${pipe} is not a regular file`)
})

it('ends with 0 at a signal though a file system hangs', async () => {
  const args = ['run', '--components', temporaryFolder(), '--http-port', '0']
  const command = startCommand(args, withHangingRead({ threads: 4 }))
  await command.line(/ ready/)
  command.process.kill('SIGTERM')
  expect(await command.ended).toBe(0)
})

it('ends with 0 at a signal while it waits for a component folder that hangs', async () => {
  const command = startCommand(['run', '--components', temporaryFolder()], withHangingRead({ threads: 1 }))
  await command.line(/^listens/)
  command.process.kill('SIGTERM')
  expect(await command.ended).toBe(0)
})

it('ends at two signals in a row while it waits for a component folder that hangs', async () => {
  const command = startCommand(['run', '--components', temporaryFolder()], withHangingRead({ threads: 1 }))
  await command.line(/^listens/)
  command.process.kill('SIGTERM')
  command.process.kill('SIGTERM')
  expect([0, 143]).toContain(await command.ended)
})
