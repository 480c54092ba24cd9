import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The Dapr that the tests run against. */
const version = '1.18.1'

/** Where the built daprd is kept. */
export const daprdPath = resolve(import.meta.dirname, `../../.cache/daprd/daprd-${version}`)

/**
 * A stock daprd: built where there is none yet, from its own Go module, with the components that Dapr calls stable; there is no Event Grid
 * among them. `undefined` without Go; in CI that is an error.
 */
export async function obtainDaprd(): Promise<string | undefined> {
  if (existsSync(daprdPath)) return daprdPath
  if (spawnSync('go', ['version']).status !== 0) {
    const without = `there is no Go on this machine to build daprd ${version} with`
    if (process.env.CI) throw new Error(without)
    console.log(`skipped: ${without}`)
    return undefined
  }
  console.log(`building daprd ${version} into ${daprdPath}; the first time this takes a few minutes`)
  const { stdout } = await run('go', ['mod', 'download', '-json', `github.com/dapr/dapr@v${version}`])
  const { Dir: folder }: { Dir: string } = JSON.parse(stdout)
  mkdirSync(dirname(daprdPath), { recursive: true })
  const fresh = `${daprdPath}.${process.pid}`
  const build = ['go', 'build', '-C', folder, '-tags', 'stablecomponents', '-o', fresh, './cmd/daprd']
  await run('nice', ['-n', '10', ...build], { maxBuffer: 16 * 1024 * 1024 })
  renameSync(fresh, daprdPath)
  return daprdPath
}
