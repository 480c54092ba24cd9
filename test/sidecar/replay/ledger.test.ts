import { once } from 'node:events'
import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isLedger, loadSqlite, openLedger, readLedger } from '../../../src/sidecar/replay/ledger.ts'
import { paste } from '../../support/shell.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { letter, letters, openReplay } from './open-replay.ts'

const target = 'https://topic.example.com/api/events'
const keyOf = (letter: string) => `${letter.repeat(42)}A`
const entryOf = (letter: string) => ({ key: keyOf(letter), id: letter })
const ledger = 'eventgrid-replay.db'
const former = 'eventgrid-replay.ledger'

function open(folder: string, of = target) {
  const opened = openLedger(folder, of)
  let isOpen = true
  const close = () => {
    if (isOpen) opened.close()
    isOpen = false
  }
  onTestFinished(close)
  return { ...opened, close }
}

/** The keys, by their first letter, that a folder's ledger has as published. */
function published(folder: string, of = target): readonly string[] {
  const keys: string[] = []
  readLedger(folder, of, (key) => void keys.push(Buffer.from(key).toString('base64url').slice(0, 1)))
  return keys.toSorted()
}

/** A folder whose former ledger has these lines. */
function folderWith(...lines: readonly string[]): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, former), lines.join('\n'))
  return folder
}

it('has what was published to its target, and tells what was under way when a replay ended', () => {
  const folder = temporaryFolder()
  const first = open(folder)
  const [a, b, c] = [entryOf('a'), entryOf('b'), entryOf('c')]
  expect(first.begin([a, b, c])).toEqual({ published: [], again: [] })
  first.settle({ published: [a], refused: [b] })
  first.close()
  expect(published(folder)).toEqual(['a'])
  const second = open(folder)
  expect(second.begin([a, b, c])).toEqual({ published: [a], again: [c] })
  second.close()
  expect(open(folder, `${target}/more`).begin([a, c])).toEqual({ published: [], again: [] })
})

it.each([
  { line: `${keyOf('a')} ${target} `, is: true, what: 'one that broke off behind its target' },
  { line: `${keyOf('a')} ${target}`, is: false, what: 'one that broke off in its target' },
  { line: `${keyOf('a')} ${target}/more "1"`, is: false, what: 'one of a longer target' },
  { line: `${keyOf('a').slice(1)} ${target} "1"`, is: false, what: 'one that lacks a part of its key' },
  { line: `${keyOf('a')} ${target} "${'x'.repeat(20_000)}"`, is: true, what: 'one with a long id' },
  { line: `?${keyOf('a').slice(1)} ${target} "1"`, is: false, what: 'one without a key' },
])('reads $what of a former ledger as published: $is', ({ line, is }) => {
  for (const lines of [[line], [line, `${keyOf('b')} ${target} "2"`], ['', line, '']]) {
    const folder = folderWith(...lines)
    const expected = [...(is ? ['a'] : []), ...(lines.length === 2 ? ['b'] : [])]
    expect(published(folder)).toEqual(expected)
    open(folder).close()
    expect(published(folder)).toEqual(expected)
  }
})

it('takes a former ledger over once, for every target, and reads it no more', async () => {
  const folder = folderWith(
    'Events of old.',
    `${keyOf('a')} ${target} "1"`,
    `${keyOf('b')} https://other.example.com/ "2"`,
    `${keyOf('c')} "3"`,
  )
  open(folder).close()
  writeFileSync(join(folder, former), `${keyOf('d')} ${target} "4"`)
  expect([published(folder), published(folder, 'https://other.example.com/')]).toEqual([['a'], ['b']])
})

it('resumes from a former ledger: what it has is not published again', async () => {
  const { write, replay, dead, at, published } = await openReplay()
  write('1.json', letters(3))
  await replay(dead)
  const rows = new (loadSqlite().DatabaseSync)(at(ledger), { readOnly: true })
  const lines = rows.prepare('SELECT target, key, id FROM event WHERE id < 2').all()
  rows.close()
  write(
    `next/${former}`,
    lines
      .map((row) => `\n${Buffer.from(row.key as Uint8Array).toString('base64url')} ${row.target} "${row.id}"`)
      .join(''),
  )
  write('next/1.json', letters(3))
  expect((await replay('--dry-run', at('next'))).text).toMatch(
    /^1 event would be published to .*, 2 published before\n$/,
  )
  expect(existsSync(at(`next/${ledger}`))).toBe(false)
  for (const says of ['1 event published, 2 published before\n', '0 events published, 3 published before\n']) {
    expect((await replay(at('next'))).text).toBe(says)
  }
  expect(published()).toHaveLength(4)
})

it('is open once, until it is closed', () => {
  const folder = temporaryFolder()
  const first = open(folder)
  for (const again of [() => open(folder), () => published(folder)]) {
    expect(again).toThrow(`the ledger ${join(folder, ledger)} can't be used: another replay publishes from its folder`)
  }
  first.close()
  open(folder)
})

async function listenAt(path: string): Promise<void> {
  const server = createServer()
  onTestFinished(() => void server.close())
  await once(server.listen(path), 'listening')
}

/** What an attacker, or a mishap, may put in place of a ledger. `file`: what must not be written. */
const traps: readonly { readonly name: string; readonly says: RegExp; make(path: string, file: string): unknown }[] = [
  { name: 'a link', says: /it is a link/, make: (path, file) => symlinkSync(file, path) },
  { name: 'a link to nothing', says: /it is a link/, make: (path) => symlinkSync(`${path}.nowhere`, path) },
  { name: 'a link to a device', says: /it is a link/, make: (path) => symlinkSync('/dev/zero', path) },
  { name: 'a second name', says: /second name/, make: (path, file) => linkSync(file, path) },
  { name: 'a folder', says: /it is a folder/, make: (path) => mkdirSync(path) },
  { name: 'a pipe', says: /a pipe, a socket or a device/, make: (path) => paste(`mkfifo '${path}'`, '/').ended },
  { name: 'a socket', says: /a pipe, a socket or a device/, make: (path) => listenAt(path) },
]

it.each(
  traps.flatMap((trap) =>
    [`${ledger}`, `${ledger}-journal`, `${ledger}-wal`, former].map((place) => ({ ...trap, place })),
  ),
)('publishes nothing, and names the ledger, where $name is in place of $place', async ({ place, says, make }) => {
  const { write, replay, dead, at, published } = await openReplay()
  write('1.json', [letter('1')])
  for (const content of ['', 'precious']) {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, content)
    const folder = at(`of ${content}`)
    write(`of ${content}/1.json`, [letter('1')])
    await make(join(folder, place), file)
    const refused = replay(folder)
    await expect(refused).rejects.toThrow(says)
    await expect(refused).rejects.toThrow(join(folder, place.startsWith(ledger) ? ledger : former))
    expect(readFileSync(file, 'utf8')).toBe(content)
  }
  expect(dead).toBeTypeOf('string')
  expect(published()).toEqual([])
})

const anotherDatabase = (path: string) => {
  const database = new (loadSqlite().DatabaseSync)(path)
  database.exec('CREATE TABLE precious (a TEXT); INSERT INTO precious VALUES (1)')
  database.close()
}

it.each([
  { name: 'a text', make: (path: string) => writeFileSync(path, 'precious '.repeat(100)), says: /not a ledger/ },
  { name: 'another database', make: anotherDatabase, says: /not a ledger of this version/ },
  {
    name: 'half a ledger',
    make: (path: string) => {
      const folder = temporaryFolder()
      const whole = open(folder)
      whole.begin(Array.from({ length: 500 }, (_, at) => ({ key: `${at}`.padStart(43, 'x'), id: 'x'.repeat(200) })))
      whole.close()
      writeFileSync(path, readFileSync(join(folder, ledger)).subarray(0, 50_000))
    },
    says: /damaged/,
  },
])('changes nothing of $name in place of a ledger, and names it', async ({ make, says }) => {
  const { write, replay, dead, at, published } = await openReplay()
  write('1.json', [letter('1')])
  make(at(ledger))
  const before = readFileSync(at(ledger))
  const refused = replay(dead)
  await expect(refused).rejects.toThrow(says)
  await expect(refused).rejects.toThrow(at(ledger))
  expect(readFileSync(at(ledger))).toEqual(before)
  expect(published()).toEqual([])
})

it('takes an empty file for a new ledger: a kill may have left it', async () => {
  const { write, replay, dead } = await openReplay()
  write('1.json', [letter('1')])
  write(ledger, '')
  expect((await replay(dead)).text).toBe('1 event published\n')
  expect((await replay(dead)).text).toBe('0 events published, 1 published before\n')
})

it.each([
  ['/a/eventgrid-replay.db', true],
  ['/a/eventgrid-replay.db-journal', true],
  ['/a/eventgrid-replay.ledger', true],
  ['/a/eventgrid-replay.lock', true],
  ['eventgrid-replay.lock.old', true],
  ['/eventgrid-replay.db/a.json', false],
  ['/a/b.json', false],
])('%s belongs to a ledger: %s', (path, is) => expect(isLedger(path)).toBe(is))
