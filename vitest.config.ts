import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

/** Suites of their own, each with a script of its own: they need more than npm brings, or more time. */
const suites = {
  dapr: ['test/dapr/**/*.test.ts'],
  faults: ['test/faults/**/*.test.ts'],
}

export default defineConfig({
  resolve: {
    alias: [
      { find: /^eventgrid-binding\/emulator$/, replacement: source('emulator/index.ts') },
      { find: /^eventgrid-binding$/, replacement: source('index.ts') },
    ],
  },
  test: {
    // .ci/run counts from the JSON report.
    ...(process.env.CI && { reporters: ['default', ['json', { outputFile: '.cache/ci/vitest.json' }]] }),
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: Object.values(suites).flat(),
          // A new set of modules for each file costs more than half of the suite's time, most of it the Azure SDKs.
          isolate: false,
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
      ...Object.entries(suites).map(([name, include]) => ({
        extends: true as const,
        test: { name, include, fileParallelism: false, testTimeout: 120_000, hookTimeout: 300_000 },
      })),
    ],
  },
})
