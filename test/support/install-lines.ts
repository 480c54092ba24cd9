/** What the pages and examples tell a user to install. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One `npm install`: the packages that it names, as they are written there. */
export interface InstallLine {
  readonly file: string
  readonly packages: readonly string[]
}

const files = [
  '{,packages/*/}*.md',
  '{,packages/*/}docs/**/*.md',
  '{,packages/*/}examples/**/*.{md,ts,mjs,py,json,yaml}',
]
const command = /\bnpm (?:i|install|add)\b((?:(?:[ \t]|\\\n)+[\w@.^~/…-]+)+)/g

/** Each `npm install` with arguments, of the project or of an installed package. A path leads to the packed archive: it is left out. */
export function installLines(folder: string): readonly InstallLine[] {
  return files
    .flatMap((pattern) => globSync(pattern, { cwd: folder }).sort())
    .flatMap((file) =>
      [...readFileSync(join(folder, file), 'utf8').matchAll(command)].map(([, words = '']) => ({
        file,
        packages: words.split(/[\s\\]+/).filter((word) => /^[\w@]/.test(word)),
      })),
    )
    .filter(({ packages }) => packages.length > 0)
}
