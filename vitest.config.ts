import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^eventgrid-binding\/emulator$/, replacement: source('emulator/index.ts') },
      { find: /^eventgrid-binding$/, replacement: source('index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // .ci/run counts from the JSON report.
    ...(process.env.CI && { reporters: ['default', ['json', { outputFile: '.cache/ci/vitest.json' }]] }),
  },
})
