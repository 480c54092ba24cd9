import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { cacheOf, caFile } from './places.ts'
import { runProgram, startProgram } from './program.ts'
import { lastLine } from './python-environment.ts'
import type { Step } from './witness.ts'

/** The program that {@link prepareGo} builds from a folder. */
export const goProgramOf = (folder: string) => join(cacheOf(folder), 'program')

/** Builds the program of a folder beside this file. Resolves with the reason if that is not possible. */
export async function prepareGo(folder: string): Promise<{ missing?: string }> {
  const found = await runProgram('go', ['version'])
  if (found.code !== 0) return { missing: 'there is no go' }
  const program = goProgramOf(folder)
  await mkdir(dirname(program), { recursive: true })
  const cwd = join(import.meta.dirname, folder)
  const env = { GOFLAGS: '-mod=readonly', GONOSUMDB: 'github.com/dapr/*', GOTOOLCHAIN: 'auto', CGO_ENABLED: '0' }
  const build = await runProgram('go', ['build', '-o', program, '.'], { cwd, env })
  return build.code === 0 ? {} : { missing: `${found.stdout} can't build it: ${lastLine(build)}` }
}

/** Runs the program of a folder against an emulator. Each line that it writes is a step; `world` says where all is. */
export async function goSteps(folder: string, emulator: { readonly ca: string }, world: object): Promise<Step[]> {
  const program = startProgram(goProgramOf(folder), [], {
    timeoutMs: 180_000,
    env: { WORLD: JSON.stringify(world), SSL_CERT_FILE: await caFile(folder, emulator.ca), NO_PROXY: '*' },
  })
  program.end()
  const steps: Step[] = []
  // Only main.go writes these lines, and each has this shape.
  for await (const line of program.lines) steps.push(JSON.parse(line) as Step)
  const { code, stderr } = await program.ended
  return code === 0 ? steps : [...steps, { step: 'the program runs to its end', error: lastLine({ stderr }) }]
}
