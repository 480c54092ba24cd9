import { expect, it } from 'vitest'
import { wrapHelp } from '../../../src/sidecar/cli/output/help-text.ts'
import { commandHelp, commandNames } from '../../documents/command-options.ts'
import { startCommand } from '../../support/command.ts'

it.each(commandNames)('fits the help of %s into 80 columns, and loses no word of it', async (name) => {
  const given = await commandHelp(name)
  const shown = wrapHelp(given)
  expect(shown.split('\n').filter((line) => line.length > 80)).toEqual([])
  expect(shown.split(/\s+/)).toEqual(given.split(/\s+/))
})

it('fills paragraphs, keeps entries in their column, and leaves a line to paste as it is', () => {
  const word = 'word '.repeat(12).trim()
  const paste = `  az ${'x'.repeat(90)}`
  expect(
    wrapHelp(`${word}\n${word}\nLabel: ${word}\n\n${paste}\n\nOptions:\n  --a N   ${word} ${word}\n          more\n`),
  ).toBe(
    [
      `${word} word word word word`,
      'word word word word word word word word',
      `Label: ${word}`,
      '',
      paste,
      '',
      'Options:',
      `  --a N   ${word} word word`,
      `          ${'word '.repeat(10).trim()} more`,
      '',
    ].join('\n'),
  )
})

it('wraps the list of commands too', async () => {
  const command = startCommand(['--help'])
  expect(await command.ended).toBe(0)
  expect(command.lines.filter((line) => line.length > 80)).toEqual([])
})
