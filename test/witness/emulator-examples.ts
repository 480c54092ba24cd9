// The emulator's examples for pytest and `go test`, as they stand: each starts the emulator by its command, and ends it.
import { join } from 'node:path'
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
