// How this program is started here: the words that a line to paste begins with.
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { shellWord } from '../../../support/text/text.ts'

/** By npx where npm has installed it for this folder; else, as with the bundle, by the file that was started. */
export function ownCommand(): string {
  const isInstalled = ancestors(resolve()).some((at) => existsSync(join(at, 'node_modules/.bin/eventgrid-binding')))
  return isInstalled ? 'npx eventgrid-binding' : `node ${shellWord(relative('', process.argv[1] ?? ''))}`
}

/** A folder and all folders above it. */
export function ancestors(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...ancestors(above)]
}
