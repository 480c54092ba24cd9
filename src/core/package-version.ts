// This package's version number, from `package.json`.
import { readFileSync } from 'node:fs'

let known: string | undefined

/** The version of this package, read from its package.json at the first call. */
export function packageVersion(): string {
  if (known !== undefined) return known
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version }: { version: string } = JSON.parse(text)
  known = version
  return version
}
