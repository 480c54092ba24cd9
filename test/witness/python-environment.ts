import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cacheOf } from './places.ts'
import { runProgram } from './program.ts'

/** The folder of the programs in Python and of their requirements. */
export const pythonSources = join(import.meta.dirname, 'python')

/** The interpreter of a virtual environment. */
export const pythonOf = (name: string) => join(cacheOf(name), 'bin', 'python')

/** Makes a virtual environment with the packages of a file (by its name in that folder, or its path), unless it is there. Resolves with the reason if that is not possible. */
export async function preparePython(name: string, requirements: string): Promise<{ missing?: string }> {
  const found = await runProgram('python3', ['--version'])
  if (found.code !== 0) return { missing: 'there is no python3' }
  const file = resolve(pythonSources, requirements)
  const digest = createHash('sha256')
    .update(await readFile(file))
    .update(found.stdout)
    .digest('hex')
  const cache = cacheOf(name)
  const stamp = join(cache, 'requirements.sha256')
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === digest) return {}
  await rm(cache, { recursive: true, force: true })
  await mkdir(cache, { recursive: true })
  const made = await runProgram('python3', ['-m', 'venv', cache])
  if (made.code !== 0) return { missing: `python3 makes no virtual environment (python3-venv): ${lastLine(made)}` }
  const installed = await runProgram(pythonOf(name), ['-m', 'pip', 'install', '--quiet', '--requirement', file])
  if (installed.code !== 0) return { missing: `pip could not install the SDKs: ${lastLine(installed)}` }
  await writeFile(stamp, digest)
  return {}
}

/** What a program wrote last to standard error. */
export function lastLine({ stderr }: { readonly stderr: string }): string {
  return stderr.trim().split('\n').at(-1) ?? ''
}
