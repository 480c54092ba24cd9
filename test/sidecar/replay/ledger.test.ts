import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { isLedger, type LedgerOptions, openLedger } from '../../../src/sidecar/replay/ledger.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const target = 'https://topic.example.com/api/events'
const keyOf = (letter: string) => letter.repeat(43)
const ledgerOf = (folder: string) => join(folder, 'eventgrid-replay.ledger')

async function open(folders: readonly string[], options: Partial<LedgerOptions> = {}) {
  const ledger = await openLedger(folders, { target, readOnly: false, ...options })
  onTestFinished(ledger.close)
  return ledger
}

/** A folder whose ledger has these lines. */
function folderWith(...lines: readonly string[]): string {
  const folder = temporaryFolder()
  writeFileSync(ledgerOf(folder), lines.join('\n'))
  return folder
}

it('has what one of its folders has for the target, and nothing for another one', async () => {
  const one = folderWith(
    'Events of old.',
    `${keyOf('a')} ${target} "1"`,
    `${keyOf('b')} https://other.example.com/ "2"`,
  )
  const other = folderWith(`${keyOf('c')} ${target} "3"`)
  const ledger = await open([one, other, one])
  expect(['a', 'b', 'c', 'd'].map((letter) => ledger.has(keyOf(letter)))).toEqual([true, false, true, false])
  expect(ledger.linesWithoutTarget).toBe(0)
})

it.each([
  { line: `${keyOf('a')} ${target} `, is: true, what: 'one that broke off behind its target' },
  { line: `${keyOf('a')} ${target}`, is: false, what: 'one that broke off in its target' },
  { line: `${keyOf('a')} ${target}/more "1"`, is: false, what: 'one of a longer target' },
  { line: `${keyOf('a').slice(1)} ${target} "1"`, is: false, what: 'one that lacks a part of its key' },
  { line: `${keyOf('a')} ${target} "${'x'.repeat(20_000)}"`, is: true, what: 'one with a long id' },
  { line: `?${keyOf('a').slice(1)} ${target} "1"`, is: false, what: 'one without a key' },
])('reads $what as published: $is', async ({ line, is }) => {
  for (const lines of [[line], [line, `${keyOf('b')} ${target} "2"`], ['', line, '']]) {
    const ledger = await open([folderWith(...lines)])
    expect(ledger.has(keyOf('a'))).toBe(is)
    expect(ledger.has(keyOf('b'))).toBe(lines.length === 2)
    ledger.close()
  }
})

it('counts the lines that name no target', async () => {
  const folder = folderWith(`${keyOf('a')} "1"`, `${keyOf('b')} "2"`, `${keyOf('c')} ${target} "3"`)
  expect((await open([folder])).linesWithoutTarget).toBe(2)
})

it('begins a ledger with a heading, and enters each event at once, on a line of its own behind one that broke off', async () => {
  const folder = temporaryFolder()
  const first = await open([folder])
  expect(readFileSync(ledgerOf(folder), 'utf8')).toMatch(/^Events that eventgrid-binding replay has published/)
  first.add(folder, keyOf('a'), 'x'.repeat(300))
  expect(readFileSync(ledgerOf(folder), 'utf8').split('\n')[1]).toBe(`${keyOf('a')} ${target} "${'x'.repeat(200)}"`)
  expect(first.has(keyOf('a'))).toBe(false)
  first.close()
  writeFileSync(ledgerOf(folder), `${readFileSync(ledgerOf(folder), 'utf8')}\n${keyOf('b')} https`)
  const second = await open([folder])
  second.add(folder, keyOf('c'), '3')
  second.close()
  const third = await open([folder])
  expect(['a', 'b', 'c'].map((letter) => third.has(keyOf(letter)))).toEqual([true, false, true])
  expect(readFileSync(ledgerOf(folder), 'utf8').match(/Events that/g)).toHaveLength(1)
})

it('leaves a folder as it is where it only reads, though another process has it', async () => {
  const folder = temporaryFolder()
  await open([folder], { readOnly: true })
  expect(existsSync(ledgerOf(folder))).toBe(false)
  const held = folderWith(`${keyOf('a')} ${target} "1"`)
  await open([held])
  const reading = await open([held], { readOnly: true })
  expect(reading.has(keyOf('a'))).toBe(true)
  expect(reading.lossOf(held)).toBeUndefined()
})

it('is open once, until it is closed, and leaves no lock where it can not be opened', async () => {
  const [one, other] = [temporaryFolder(), temporaryFolder()].toSorted()
  const first = await open([other ?? ''])
  await expect(open([one ?? '', other ?? ''])).rejects.toThrow('another replay publishes from')
  expect(existsSync(join(one ?? '', 'eventgrid-replay.lock'))).toBe(false)
  expect(first.lossOf(other ?? '')).toBeUndefined()
  first.close()
  expect(existsSync(join(other ?? '', 'eventgrid-replay.lock'))).toBe(false)
  await open([one ?? '', other ?? ''])
})

it('says which ledger can not be written', async () => {
  const ledger = await open([temporaryFolder()])
  const gone = join(temporaryFolder(), 'gone')
  expect(() => ledger.add(gone, keyOf('a'), '1')).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`the ledger of ${gone} can't be written: ENOENT`),
      cause: expect.anything(),
    }),
  )
})

it('refuses more events than it keeps in mind, with those that it has, and no fewer', async () => {
  const folder = folderWith(`${keyOf('a')} ${target} "1"`, `${keyOf('b')} ${target} "2"`)
  const ledger = await open([folder], { maxEvents: 3 })
  expect(ledger.refusalOf(1)).toBeUndefined()
  expect(ledger.refusalOf(2)).toMatchObject({ message: expect.stringContaining('more than 3 events') })
  ledger.close()
  await open([folder], { maxEvents: 2, readOnly: true })
  await expect(open([folder], { maxEvents: 1, readOnly: true })).rejects.toThrow('more than 1 events')
})

it.each([
  ['/a/eventgrid-replay.ledger', true],
  ['/a/eventgrid-replay.lock', true],
  ['eventgrid-replay.lock.old', true],
  ['/eventgrid-replay.ledger/a.json', false],
  ['/a/b.json', false],
])('%s belongs to a ledger: %s', (path, is) => expect(isLedger(path)).toBe(is))
