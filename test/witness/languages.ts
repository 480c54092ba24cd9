// The programs of the emulator's page for other languages, each run as it stands there.
import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { EventGridEmulator } from '../../packages/emulator/src/index.ts'
import { blockOf } from '../support/language-blocks.ts'
import { azureCliEnvironment, prepareAzureCli } from './azure-cli.ts'
import { libraries, prepareJava } from './java-sdk.ts'
import { cacheOf } from './places.ts'
import { type ProgramOptions, runProgram } from './program.ts'
import { lastLine, preparePython, pythonOf } from './python-environment.ts'
import { type Step, takeStep, type Witness } from './witness.ts'

interface Language {
  /** Title of its section. */
  readonly title: string
  /** Whose variables `--env` prints. */
  readonly env: 'python' | 'go' | 'java'
  /** Number of events that its program publishes. */
  readonly events: number
  /** Whether its program prints the names of the topics. */
  readonly lists: boolean
  prepare(): Promise<{ missing?: string }>
  /** Runs the program of the page in an empty folder that has `ca.pem`. Resolves with what it printed. */
  run(folder: string, env: Readonly<Record<string, string>>): Promise<string>
}

async function mustRun(command: string, args: readonly string[], options: ProgramOptions): Promise<string> {
  const told = await runProgram(command, args, { timeoutMs: 300_000, ...options })
  assert.equal(told.code, 0, `${command} ${args.join(' ')}: ${told.stdout}\n${told.stderr}`)
  return told.stdout
}

const goSource = join(cacheOf('languages-go'), 'main.go')
const goEnv = { GOFLAGS: '-mod=readonly', GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }

/** The program of Go has the versions of the example for `go test`. */
async function prepareGo(): Promise<{ missing?: string }> {
  if ((await runProgram('go', ['version'])).code !== 0) return { missing: 'there is no go' }
  const folder = dirname(goSource)
  await mkdir(folder, { recursive: true })
  for (const file of ['go.mod', 'go.sum']) {
    await copyFile(join(import.meta.dirname, '../../packages/emulator/examples/go-test', file), join(folder, file))
  }
  await writeFile(goSource, blockOf('Go', 'go'))
  const built = await runProgram('go', ['build', '-o', 'program', '.'], { cwd: folder, env: goEnv })
  return built.code === 0 ? {} : { missing: `it can't be built: ${lastLine(built)}` }
}

const languages: readonly Language[] = [
  {
    ...{ title: 'Python', env: 'python', events: 2, lists: true },
    prepare: () => preparePython('python', 'requirements.txt'),
    run: (cwd, env) => mustRun(pythonOf('python'), ['-c', blockOf('Python', 'python')], { cwd, env }),
  },
  {
    ...{ title: 'Go', env: 'go', events: 2, lists: true },
    prepare: prepareGo,
    run: (cwd, env) => mustRun(join(dirname(goSource), 'program'), [], { cwd, env }),
  },
  {
    ...{ title: 'Java', env: 'java', events: 2, lists: false },
    prepare: prepareJava,
    async run(cwd, env) {
      await writeFile(join(cwd, 'Publish.java'), blockOf('Java', 'java'))
      return mustRun('java', ['-cp', libraries, 'Publish.java'], { cwd, env })
    },
  },
  {
    ...{ title: 'Azure CLI', env: 'python', events: 0, lists: true },
    prepare: prepareAzureCli,
    run: (cwd, env) =>
      mustRun('sh', ['-ec', blockOf('Azure CLI', 'sh')], { cwd, env: { ...env, ...azureCliEnvironment(cwd) } }),
  },
]

async function run({ env, events, lists, ...language }: Language): Promise<readonly Step[]> {
  const folder = await mkdtemp(join(tmpdir(), 'languages-'))
  try {
    await using emulator = await EventGridEmulator.start()
    const caFile = join(folder, 'ca.pem')
    await writeFile(caFile, emulator.ca)
    emulator.caFile = caFile
    emulator.pkcs12File = join(folder, 'ca.p12')
    await writeFile(emulator.pkcs12File, emulator.environment().pkcs12, 'base64')
    const { variables } = emulator.environment().languages[env]
    const { endpoint, key } = emulator.topic('orders')
    let printed = ''
    return [
      await takeStep('its program runs as the page has it', async () => {
        const given = { ...variables, TOPIC_ENDPOINT: endpoint, TOPIC_KEY: key, NO_PROXY: '*' }
        printed = await language.run(folder, given)
      }),
      await takeStep('what it published has arrived, and it found the topic', () => {
        assert.deepEqual(
          emulator.events({ topic: 'orders' }).events.map(({ type }) => type),
          Array.from({ length: events }, () => 'order.placed'),
        )
        if (lists) assert.match(printed, /\borders\b/)
      }),
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** One for each section. */
export const languageWitnesses: readonly Witness[] = languages.map((language) => ({
  name: `The page's program for ${language.title}`,
  prepare: language.prepare,
  run: () => run(language),
}))
