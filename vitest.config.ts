import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Suites of their own, each with a script of its own: they need more than npm brings, or more time. */
const suites = {
  azure: ['test/azure/suite/**/*.test.ts'],
  commands: [
    'test/sidecar/cli/**/*.test.ts',
    'packages/emulator/test/cli/**/*.test.ts',
    'test/lifecycle/**/*.test.ts',
    'test/sidecar/host/**/*.test.ts',
    'test/sidecar/pluggable/serve.test.ts',
    'test/sidecar/replay/{interrupted,named-files,one-at-a-time}.test.ts',
    'test/end-to-end/local-example.test.ts',
    'examples/demo/demo.test.ts',
  ],
  bundle: ['test/image/**/*.test.ts'],
  dapr: ['test/dapr/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
  prometheus: ['test/prometheus/**/*.test.ts'],
}

const tests = ['test/**/*.test.ts', 'packages/*/{test,examples}/**/*.test.ts', 'examples/**/*.test.ts']

/** Windows has no Unix domain sockets for daprd, no signals that a process may answer, no `sh` and no modes of files. */
const posix = /kill\('SIG|kill\(signal|support\/shell\.ts|socket-folder\.ts|\('sh'|chmodSync|mkfifo|0o111/
const needsPosix = (file: string) => posix.test(readFileSync(new URL(file, import.meta.url), 'utf8'))
const ofPosix =
  process.platform === 'win32'
    ? [
        ...['test/sidecar/pluggable/**', 'test/sidecar/shared/**', 'test/lifecycle/**'],
        ...globSync(tests, { cwd: import.meta.dirname })
          .map((file) => file.replaceAll('\\', '/'))
          .filter(needsPosix),
      ]
    : []

const quick = {
  // A new set of modules for each file costs more than half of the time, most of it the Azure SDKs.
  isolate: false,
  // By default one core is left idle. Tests wait for sockets and processes: one more than there are cores keeps all of them busy.
  maxWorkers: availableParallelism() + 1,
  // Halves the time that a process needs to start.
  env: { NODE_COMPILE_CACHE: source('.cache/compile') },
  // These end what hangs. They are no demand on the machine's speed.
  testTimeout: 120_000,
  hookTimeout: 120_000,
}

const notTests = [...Object.values(suites).flat(), ...ofPosix]

/**
 * What a user's Node hardly changes: what the project says of itself, decisions about metadata and facts of Azure, random models. The
 * rest has what Node is: HTTP, TLS, streams, files, SQLite, processes, timers.
 */
const ofOneNode = [
  ...['test/documents/**', 'test/specification/**', 'test/imports.test.ts', 'test/release-notes.test.ts'],
  ...[
    'test/metadata/**',
    'test/provision/**',
    'test/sidecar/check/**',
    'test/sidecar/cli/commands/provision.test.ts',
    'test/**/*-model.test.ts',
  ],
  ...['arm', 'config', 'entra', 'model', 'namespaces', 'page', 'test-interface'].map(
    (room) => `packages/emulator/test/${room}/**`,
  ),
]

const patient = { fileParallelism: false, testTimeout: 120_000, hookTimeout: 300_000 }

/** Where .ci/run wants the JSON report that it counts from. */
const report = process.env.EVENTGRID_TEST_REPORT

export default defineConfig({
  resolve: {
    alias: [
      { find: /^eventgrid-emulator$/, replacement: source('packages/emulator/src/index.ts') },
      { find: /^eventgrid-binding\/emulator$/, replacement: source('packages/emulator/src/index.ts') },
      { find: /^eventgrid-binding$/, replacement: source('src/index.ts') },
    ],
  },
  test: {
    // A check that is repeated fails at once by default on a busy machine: after one second.
    expect: { poll: { timeout: 30_000 } },
    ...(report && { reporters: ['default', ['json', { outputFile: report }]] }),
    projects: [
      { extends: true, test: { ...quick, name: 'tests', include: tests, exclude: notTests } },
      // The same on another Node (test/nodes.ts).
      { extends: true, test: { ...quick, name: 'nodes', include: tests, exclude: [...notTests, ...ofOneNode] } },
      { extends: true, test: { ...quick, name: 'commands', include: suites.commands, exclude: ofPosix } },
      { extends: true, test: { ...patient, name: 'azure', include: suites.azure, testTimeout: 600_000 } },
      { extends: true, test: { ...patient, name: 'bundle', include: suites.bundle } },
      { extends: true, test: { ...patient, name: 'dapr', include: suites.dapr } },
      { extends: true, test: { ...patient, name: 'faults', include: suites.faults } },
      { extends: true, test: { ...patient, name: 'prometheus', include: suites.prometheus, testTimeout: 300_000 } },
    ],
  },
})
