// The emulator's examples for other test runners, as they stand: each starts the emulator by its command, or in its process, and ends it.
import { cp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheOf } from './places.ts'
import { runProgram } from './program.ts'
import { lastLine, preparePython, pythonOf } from './python-environment.ts'
import type { Step, Witness } from './witness.ts'

const emulator = join(import.meta.dirname, '../../packages/emulator')
const examples = join(emulator, 'examples')
const environment = 'pytest'

const env = {
  EVENTGRID_EMULATOR: process.env.EVENTGRID_EMULATOR ?? `${process.execPath} ${join(emulator, 'src/cli/main.ts')}`,
  PYTHONDONTWRITEBYTECODE: '1',
  NO_PROXY: '*',
}

export const pytestExample: Witness = {
  name: 'The example for pytest, on two workers',
  prepare: () => preparePython(environment, join(examples, 'pytest/requirements.txt')),
  async run() {
    const args = ['-m', 'pytest', '-n', '2', '-rA', '-q', '-p', 'no:cacheprovider']
    const told = await runProgram(pythonOf(environment), args, {
      cwd: join(examples, 'pytest'),
      env,
      timeoutMs: 300_000,
    })
    return stepsOf(told, /^(PASSED|FAILED|ERROR) \S*::(\S+)(?: - (.*))?$/gm)
  },
}

export const goTestExample: Witness = {
  name: 'The example for go test',
  async prepare() {
    const { code } = await runProgram('go', ['version'])
    if (code !== 0) return { missing: 'there is no go' }
    const built = await runProgram('go', ['vet', '.'], { cwd: join(examples, 'go-test'), env: ofGo })
    return built.code === 0 ? {} : { missing: `it can't be built: ${lastLine(built)}` }
  },
  async run() {
    const cwd = join(examples, 'go-test')
    const told = await runProgram('go', ['test', '-v', '-count=1', '.'], {
      cwd,
      env: { ...env, ...ofGo },
      timeoutMs: 300_000,
    })
    return stepsOf(told, /^--- (PASS|FAIL): (\S+)/gm)
  },
}

export const junitExample: Witness = {
  name: 'The example for JUnit',
  async prepare() {
    for (const command of ['java', 'mvn']) {
      const { code } = await runProgram(command, ['-version'])
      if (code !== 0) return { missing: `there is no ${command}` }
    }
    const built = await runProgram('mvn', ['-q', '-B', 'test-compile', buildDirectory], {
      cwd: join(examples, 'junit'),
    })
    return built.code === 0 ? {} : { missing: `it can't be built: ${lastLine(built)}` }
  },
  async run() {
    const cwd = join(examples, 'junit')
    const told = await runProgram('mvn', ['-B', 'test', buildDirectory], { cwd, env, timeoutMs: 300_000 })
    const [, tests = '0', failures = '0', errors = '0'] =
      /Tests run: (\d+), Failures: (\d+), Errors: (\d+)/.exec(told.stdout) ?? []
    const isWhole = told.code === 0 && tests !== '0' && failures === '0' && errors === '0'
    return [{ step: `${tests} tests pass`, ...(!isWhole && { error: `${told.stdout}\n${told.stderr}` }) }]
  },
}

const buildDirectory = `-DbuildDirectory=${cacheOf('junit')}`

const jestFolder = cacheOf('jest')

export const jestExample: Witness = {
  name: 'The example for jest',
  async prepare() {
    await cp(join(examples, 'jest'), jestFolder, { recursive: true })
    await writeFile(join(jestFolder, 'package.json'), '{ "private": true, "type": "module" }')
    const installed = await runProgram('npm', ['install', '--no-audit', '--no-fund', 'jest@30'], { cwd: jestFolder })
    if (installed.code !== 0) return { missing: `jest can't be installed: ${lastLine(installed)}` }
    // npm would copy it.
    await rm(join(jestFolder, 'node_modules/eventgrid-emulator'), { force: true })
    await symlink(emulator, join(jestFolder, 'node_modules/eventgrid-emulator'))
    return {}
  },
  async run() {
    const program = join(jestFolder, 'node_modules/jest/bin/jest.js')
    const args = ['--experimental-vm-modules', program, '--config', 'jest.config.json', '--verbose']
    const told = await runProgram(process.execPath, args, { cwd: jestFolder, timeoutMs: 300_000 })
    return stepsOf(
      { ...told, stdout: told.stderr.replaceAll('✓', 'PASS').replaceAll('✕', 'FAIL') },
      /^\s*(PASS|FAIL) (.+?)(?: \(\d+ m?s\))?$/gm,
    )
  },
}

const ofGo = { GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }

/** A step for each test that is reported: its result, its name, and why it failed. */
function stepsOf(told: Awaited<ReturnType<typeof runProgram>>, line: RegExp): readonly Step[] {
  const all = `${told.stdout}\n${told.stderr}`
  const steps = [...told.stdout.matchAll(line)].map(
    ([, result = '', test = '', why = all]): Step => ({
      step: test
        .replace(/^test/i, '')
        .replaceAll('_', ' ')
        .replaceAll(/[A-Z]|\d+/g, ' $&')
        .replaceAll(/ +/g, ' ')
        .trim()
        .toLowerCase(),
      ...(!result.startsWith('PASS') && { error: why }),
    }),
  )
  const isWhole = told.code === 0 && steps.length > 0
  return isWhole ? steps : [...steps, { step: 'it runs to its end', error: all }]
}
