// What the image holds, run as the image runs it: Node and the bundle, a read-only file system, no network, no root, no shell.

import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')

/** Libraries that Node itself loads. */
const libraries = () =>
  spawnSync('ldd', [process.execPath], { encoding: 'utf8' })
    .stdout.match(/\/\S+\.so\S*/g)
    ?.map(String) ?? []

/** A folder with what the image holds. */
function imageFolder(): string {
  const folder = temporaryFolder()
  // Its user is not the one that made it.
  chmodSync(folder, 0o755)
  for (const made of ['app', 'bin', 'dev', 'tmp']) mkdirSync(join(folder, made))
  writeFileSync(join(folder, 'dev/null'), '')
  for (const library of libraries()) {
    mkdirSync(join(folder, dirname(library)), { recursive: true })
    copyFileSync(library, join(folder, library))
  }
  copyFileSync(process.execPath, join(folder, 'bin/node'))
  cpSync(join(root, 'bundle'), join(folder, 'app'), { recursive: true })
  cpSync(join(root, 'build/healthcheck.mjs'), join(folder, 'app/healthcheck.mjs'))
  cpSync(join(root, 'test/image/main-job.mjs'), join(folder, 'app/main-job.mjs'))
  return folder
}

const jail = (folder: string) => `
set -e
ip link set lo up
mount --bind ${folder} ${folder}
mount -o remount,ro,bind ${folder}
mount --bind /dev/null ${folder}/dev/null
mount -t tmpfs -o mode=1777 tmpfs ${folder}/tmp
exec chroot --userspec=65532:65532 ${folder} /bin/node --input-type=module -e "
  process.chdir('/tmp')
  await import('/app/main-job.mjs')"
`

// Needs root, as CI has it, for the mounts.
const able = process.platform === 'linux' && process.getuid?.() === 0 && spawnSync('ip', ['-V']).status === 0

it.runIf(able)('does the main job in the image, read-only, as its user, without a network', () => {
  const options = { encoding: 'utf8', env: { NODE_OPTIONS: '--max-semi-space-size=1' }, timeout: 110_000 } as const
  const { stdout, stderr, status } = spawnSync(
    '/usr/bin/unshare',
    ['--mount', '--net', 'sh', '-c', jail(imageFolder())],
    options,
  )
  expect({ stderr, last: stdout.trim().split('\n').at(-1), status }).toEqual({ stderr: '', last: 'done', status: 0 })
})
