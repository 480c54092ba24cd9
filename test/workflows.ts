/** Runs actionlint over .github/workflows, built from its Go module into `.cache` (needs Go). */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const version = 'v1.7.12'
const root = resolve(import.meta.dirname, '..')
const folder = join(root, '.cache/actionlint', version)
const program = join(folder, 'actionlint')

if (!existsSync(program)) {
  const env = { ...process.env, GOBIN: folder }
  execFileSync('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@${version}`], { env, stdio: 'inherit' })
}
execFileSync(program, ['-color=false'], { cwd: root, stdio: 'inherit' })
console.log('the workflows are well')
