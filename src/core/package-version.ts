import { readFileSync } from 'node:fs'

let known: string | undefined

/** The version of this package, read from its package.json at the first call. */
export function packageVersion(): string {
  known ??= read()
  return known
}

function read(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return version
}
