// The source maps beside the bundle: copied over it, a stack trace names files of the source; the bundle itself holds none.

import { spawnSync } from 'node:child_process'
import { cpSync, globSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../..')

it('name the files of the source in a stack trace', () => {
  expect(globSync('**/*.map', { cwd: join(root, 'bundle') })).toEqual([])
  const folder = temporaryFolder()
  for (const part of ['bundle', 'bundle-maps']) cpSync(join(root, part), folder, { recursive: true })
  const main = join(folder, 'eventgrid-binding.js')
  // The program writes its first line from a module of ours: where it stands is shown in place of the line.
  const tell = 'process.stdout.write = () => { console.error(new Error("here").stack); return true }'
  const { stderr } = spawnSync(
    process.execPath,
    ['--enable-source-maps', '--import', `data:text/javascript,${encodeURIComponent(tell)}`, main, '--version'],
    { encoding: 'utf8' },
  )
  expect(stderr).toMatch(/\/src\/sidecar\/cli\/\S+\.ts:\d+/)
  expect(stderr).not.toContain(`${pathToFileURL(main)}:`)
})
