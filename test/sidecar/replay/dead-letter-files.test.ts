import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { findDeadLetterFiles } from '../../../src/sidecar/replay/dead-letters.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** A folder with empty files of these names. */
function makeFiles(...names: readonly string[]) {
  const folder = temporaryFolder()
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), '')
  }
  const find = async (...paths: readonly string[]) => {
    const found = await findDeadLetterFiles(paths.map((path) => join(folder, path)))
    return found.map(({ path }) => relative(folder, path))
  }
  return { folder, find }
}

it('finds the .json files below a folder in the order of their time, and no hidden one, no other, no ledger', async () => {
  const { find } = makeFiles(
    ...['A/2026/1/5/10/b.json', 'A/2026/1/5/9/a.JSON', 'A/2026/1/15/1/c.json', 'A/2026/1/5/9/.hidden.json'],
    ...[
      'A/2026/1/5/9/notes.txt',
      'A/2026/1/5/9/a.json.gz',
      'eventgrid-replay.db',
      'eventgrid-replay.ledger',
      'eventgrid-replay.lock/1/x.json',
    ],
  )
  expect(await find('')).toEqual(['A/2026/1/5/9/a.JSON', 'A/2026/1/5/10/b.json', 'A/2026/1/15/1/c.json'])
})

it('takes a file that is named whatever its name is, each once, and not what belongs to the ledger', async () => {
  const { folder, find } = makeFiles('a.txt', 'b.json', 'eventgrid-replay.ledger', 'eventgrid-replay.lock')
  symlinkSync(join(folder, 'b.json'), join(folder, 'c.json'))
  symlinkSync(join(folder, 'eventgrid-replay.ledger'), join(folder, 'd.json'))
  expect(
    await find('a.txt', 'eventgrid-replay.ledger', 'eventgrid-replay.lock', 'd.json', 'c.json', '', 'a.txt'),
  ).toEqual(['a.txt', 'c.json'])
})

it('has the ledger of a link where its file is, and lists a link to nothing', async () => {
  const { folder } = makeFiles('real/a.json')
  symlinkSync(join(folder, 'real/a.json'), join(folder, 'link.json'))
  symlinkSync(join(folder, 'nowhere/a.json'), join(folder, 'to-nothing.json'))
  const found = await findDeadLetterFiles([folder])
  expect(found.map((one) => [relative(folder, one.path), relative(folder, one.folder)])).toEqual([
    ['link.json', 'real'],
    ['to-nothing.json', ''],
  ])
})

it('does not follow links to folders, and rejects for a path that is not there', async () => {
  const { folder, find } = makeFiles('a/a.json')
  symlinkSync(folder, join(folder, 'a/circle'))
  expect(await find('a')).toEqual(['a/a.json'])
  // A lock may go at any moment.
  expect(await find('nothing/eventgrid-replay.lock')).toEqual([])
  await expect(find('nothing')).rejects.toMatchObject({ code: 'ENOENT' })
})
