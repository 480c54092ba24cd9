/** The environment of a language as lines for a shell: what no variable can say as comments, then an `export` for each variable. */

import { shellWord } from '../../../../src/support/text/text.ts'
import type { EmulatorEnvironment, EnvironmentLanguage } from '../index.ts'

/** @param language the lines of Node, without comments, where none was asked for */
export function environmentLines(
  { languages }: Pick<EmulatorEnvironment, 'languages'>,
  language: EnvironmentLanguage | undefined,
): string[] {
  const { variables, notes } = languages[language ?? 'node']
  return [
    ...(language === undefined ? [] : notes.map((note) => `# ${note}`)),
    ...Object.entries(variables).map(([name, value]) => `export ${name}=${shellWord(value)}`),
  ]
}
