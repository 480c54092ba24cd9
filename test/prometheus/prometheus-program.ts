import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The Prometheus that the dashboard and the alert rules are tried on. */
const version = '0.316.0'

/** A real Prometheus server. */
export const obtainPrometheus = () => obtain('prometheus')

/** Its tool, which tests rules. */
export const obtainPromtool = () => obtain('promtool')

/**
 * A program of Prometheus: built where there is none yet, from its own Go module, without its service discoveries (they are most of it).
 * `undefined` where it can't be built; in CI that is an error.
 */
async function obtain(program: 'prometheus' | 'promtool'): Promise<string | undefined> {
  const path = resolve(import.meta.dirname, `../../.cache/prometheus/${program}-${version}`)
  if (existsSync(path)) return path
  try {
    if (spawnSync('go', ['version']).status !== 0) throw new Error('there is no Go on this machine')
    console.log(`building ${program} ${version} into ${path}; the first time this takes a few minutes`)
    const { stdout } = await run('go', ['mod', 'download', '-json', `github.com/prometheus/prometheus@v${version}`])
    const { Dir: folder }: { Dir: string } = JSON.parse(stdout)
    mkdirSync(dirname(path), { recursive: true })
    const fresh = `${path}.${process.pid}`
    const build = ['go', 'build', '-C', folder, '-tags', 'remove_all_sd', '-o', fresh, `./cmd/${program}`]
    // Its workspace names folders that the module does not hold.
    const env = { ...process.env, GOWORK: 'off', CGO_ENABLED: '0' }
    await run('nice', ['-n', '10', ...build], { env, maxBuffer: 16 * 1024 * 1024 })
    renameSync(fresh, path)
    return path
  } catch (error) {
    const without = `${program} ${version} can't be built: ${error instanceof Error ? error.message : error}`
    if (process.env.CI) throw new Error(without, { cause: error })
    console.log(`skipped: ${without}`)
    return undefined
  }
}
