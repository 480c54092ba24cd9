/** How a program is started here: the words that a line to paste begins with. */
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { shellWord } from '../text/text.ts'

/** By npx where npm has installed it for this folder; else, as with the bundle, by the file that was started. */
export function ownCommand(bin: string): string {
  const isInstalled = ancestors(resolve()).some((at) => existsSync(join(at, 'node_modules/.bin', bin)))
  return isInstalled ? `npx ${bin}` : `node ${shellWord(relative('', process.argv[1] ?? ''))}`
}

/** A folder and all folders above it. */
export function ancestors(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...ancestors(above)]
}
