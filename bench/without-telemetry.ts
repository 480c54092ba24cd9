import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { programFile } from './strip-types.ts'

const root = join(import.meta.dirname, '..')
const copy = join(root, '.cache', 'bench', 'without-telemetry')

/** Has the names of the real module; says that the process has no SDK without asking OpenTelemetry. */
const stub = `export * from './telemetry-of-the-build.js'
export const hasTelemetry = () => false
export const startSpan = () => undefined
export const instruments = () => undefined
`

/**
 * Copies the built package, and takes the calls of @opentelemetry/api out of the copy. Returns a program of the benchmark
 * that loads the copy: a program finds the package by the nearest package.json.
 */
export function withoutTelemetry(): (server: string) => string {
  rmSync(copy, { recursive: true, force: true })
  for (const part of ['package.json', 'dist']) cpSync(join(root, part), join(copy, part), { recursive: true })
  const programs = dirname(programFile(''))
  cpSync(programs, join(copy, 'programs'), { recursive: true })
  const core = join(copy, 'dist', 'src', 'core')
  renameSync(join(core, 'telemetry.js'), join(core, 'telemetry-of-the-build.js'))
  writeFileSync(join(core, 'telemetry.js'), stub)
  return (server) => join(copy, 'programs', 'servers', `${server}.js`)
}
