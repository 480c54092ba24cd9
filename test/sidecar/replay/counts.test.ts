import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { type Ledger, openLedger } from '../../../src/sidecar/replay/ledger.ts'
import { type ReplayOptions, replay } from '../../../src/sidecar/replay/replay.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventGridLetter, letter, letters, openReplay } from './open-replay.ts'

const target = 'https://topic.example.com/api/events'

it.each([
  {
    name: 'in a dry run of a fresh folder',
    letters: [letter('1'), letter('1'), letter('1')],
    args: ['--dry-run'],
    says: '1 event would be published, 2 duplicates in the files\n',
  },
  {
    name: 'where the first one was refused',
    letters: [letter('1', { source: '' }), letter('1', { source: '' })],
    args: [],
    says: /\n0 events published, 1 duplicate in the files, 1 not published\n$/,
  },
])('tells duplicates as such, $name', async ({ letters, args, says }) => {
  const { write, replay, dead } = await openReplay()
  write('1.json', letters)
  expect((await replay(dead, ...args)).text).toEqual(says instanceof RegExp ? expect.stringMatching(says) : says)
})

/** Publishes these ids, some of them twice, in runs that each end by a line which broke off. */
it('publishes each event once, whatever a kill has left of the last line of each run', async () => {
  const { write, replay, dead, published, at } = await openReplay()
  const ledger = at('eventgrid-replay.ledger')
  let expected = 0
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: 400 }), fc.integer({ min: 1, max: 3 }), async (cut, count) => {
      const died = Array.from({ length: count }, (_, at) => letter(`${expected + at}-${'x'.repeat(at)}`))
      expected += count
      write(`${expected}.json`, died)
      expect((await replay(dead)).code).toBe(0)
      // The line of a published event whose process was killed while it wrote it.
      appendFileSync(ledger, `\n${readFileSync(ledger, 'utf8').split('\n').at(-1)?.slice(0, cut)}`)
    }),
    { numRuns: 12, seed: 52 },
  )
  expect(published()).toHaveLength(expected)
  expect((await replay(dead)).text).toBe(`0 events published, ${expected} published before\n`)
})

/** A replay of these files of one folder, and what a topic was sent that answers so. */
async function replayed(
  files: Readonly<Record<string, unknown>>,
  options: Partial<ReplayOptions> & { readonly maxEvents?: number; readonly answer?: (id: string) => void } = {},
) {
  const dead = temporaryFolder()
  const write = (name: string, content: unknown) => {
    const path = join(dead, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const { maxEvents = 100, answer = () => {}, ...changes } = options
  const ledger = await openLedger([dead], { target, readOnly: false, maxEvents })
  onTestFinished(ledger.close)
  const sent: string[] = []
  const publish = async (event: unknown) => {
    const { id } = JSON.parse(String(event))
    sent.push(id)
    answer(id)
    return { ids: [], count: 1, requestId: undefined }
  }
  const report = await replay({
    files: Object.entries(files).map(([name, content]) => ({ path: write(name, content), folder: dead })),
    ...{ ledger, signal: new AbortController().signal, output: { publish } },
    ...{ topicSchema: 'CloudEventSchemaV1_0', defaultSource: '/s', isWanted: () => true, onProgress: () => {} },
    ...changes,
  })
  return { ...report, sent, dead, ledger }
}

it('counts each entry once, by what became of it, and tells how far it is', async () => {
  const progress: number[] = []
  const { counts, unpublishable, ended } = await replayed(
    {
      'a.json': [letter('1'), letter('1'), eventGridLetter('2'), 7, letter('left'), letter('3', { source: 5 })],
      'b.json': '',
      'c.json': letter('4'),
    },
    {
      topicSchema: 'EventGridSchema',
      isWanted: ({ id }) => id !== 'left',
      onProgress: ({ published }) => void progress.push(published),
    },
  )
  expect(counts).toEqual({
    ...{ published: 4, known: 0, duplicates: 1, leftOut: 1, unpublishable: 2, notTried: 0 },
    ...{ failed: 0, converted: 3, unrecorded: 0, files: 3 },
  })
  expect(unpublishable).toEqual([
    { path: expect.stringMatching(/a\.json$/), index: 3, why: 'it is not a JSON object' },
    { path: expect.stringMatching(/b\.json$/), why: expect.stringContaining('not valid JSON') },
  ])
  expect(ended).toBeUndefined()
  expect(progress.at(-1)).toBe(4)
  expect(progress.length).toBeGreaterThanOrEqual(7)
})

it('lists the first thousand of what can not be published, and counts all', async () => {
  const { counts, unpublishable } = await replayed({ 'a.json': Array.from({ length: 1_001 }, () => 7) })
  expect([counts.unpublishable, unpublishable.length, unpublishable.at(-1)?.index]).toEqual([1_001, 1_000, 999])
})

it('publishes and enters nothing without an output, and tells what would be converted', async () => {
  const { counts, dead } = await replayed(
    { 'a.json': [letter('1'), eventGridLetter('2'), eventGridLetter('3', { eventTime: 7 })] },
    { output: undefined },
  )
  expect(counts).toMatchObject({ published: 2, converted: 1, unpublishable: 1, unrecorded: 0 })
  expect(readFileSync(`${dead}/eventgrid-replay.ledger`, 'utf8')).not.toContain('\n')
})

it('takes no more when it is aborted, and counts the others as not tried', async () => {
  const stop = new AbortController()
  const { counts, ended } = await replayed(
    { 'a.json': letters(40) },
    { signal: stop.signal, answer: () => stop.abort() },
  )
  expect(counts.published + counts.notTried).toBe(40)
  expect(counts.published).toBeGreaterThan(0)
  expect(counts.published).toBeLessThanOrEqual(20)
  expect(ended).toBeUndefined()
  const all = await replayed({ 'a.json': [letter('1')] }, { signal: AbortSignal.abort() })
  expect(all.counts).toMatchObject({ published: 0, notTried: 1 })
})

it('has twenty under way at most', async () => {
  let most = 0
  let underWay = 0
  const publish = async () => {
    most = Math.max(most, ++underWay)
    await new Promise((resolve) => setImmediate(resolve))
    underWay--
    return { ids: [], count: 1, requestId: undefined }
  }
  await replayed({ 'a.json': letters(60) }, { output: { publish } })
  expect(most).toBe(20)
})

/** A ledger that has this in place of what it does. */
async function ledgerWith(changes: Partial<Ledger>): Promise<Ledger> {
  const ledger = await openLedger([], { target, readOnly: true })
  return { ...ledger, ...changes }
}

it('ends where the ledger can not be written, and says how many it lacks', async () => {
  const ledger = await ledgerWith({
    add() {
      throw new Error('no room')
    },
  })
  const { counts, ended } = await replayed({ 'a.json': [letter('1'), letter('2')] }, { ledger, topicSchema: 'auto' })
  expect(ended).toMatchObject({ message: 'no room' })
  expect(counts).toMatchObject({ published: 1, unrecorded: 1, notTried: 1 })
})

it('publishes nothing more from a folder that another process has taken over', async () => {
  const ledger = await ledgerWith({ lossOf: () => new Error('taken over') })
  const { sent, counts, ended } = await replayed({ 'a.json': [letter('1'), letter('2')] }, { ledger })
  expect([sent, ended]).toEqual([[], expect.objectContaining({ message: 'taken over' })])
  expect(counts).toMatchObject({ published: 0, notTried: 2 })
})

it('ends at more events than it can keep in mind, and has published the others', async () => {
  const { counts, sent, ended } = await replayed(
    { '1.json': [letter('1'), letter('1'), letter('2'), letter('3')] },
    { maxEvents: 2 },
  )
  expect(ended).toMatchObject({ message: expect.stringContaining('more than 2 events') })
  expect(counts).toMatchObject({ published: 2, duplicates: 1 })
  expect(sent).toHaveLength(2)
})

it('counts what was tried without knowing what became of it apart from what was not tried', async () => {
  const { counts, ended } = await replayed(
    { '1.json': [letter('1'), letter('2'), letter('3')] },
    { topicSchema: 'auto', output: { publish: () => Promise.reject(new Error('no answer')) } },
  )
  expect(ended).toMatchObject({ message: 'no answer' })
  expect(counts).toMatchObject({ published: 0, failed: 1, notTried: 2 })
})
