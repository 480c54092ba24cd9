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

it.each(['--ca', '--state'])('does not start an emulator with a pipe as %s, and names it', async (option) => {
  const pipe = makePipe()
  const command = startCommand(['emulate', '--port', '0', '--http-port', '0', option, pipe])
  expect(await command.ended).toBe(2)
  expect(command.lines.join('\n')).toContain(`${pipe} is not a regular file`)
})
