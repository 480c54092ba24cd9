import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BindingError } from '../../../src/core/errors.ts'
import { type ReplayOptions, replay } from '../../../src/sidecar/replay/replay.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { eventGridLetter, letter, letters, openReplay } from './open-replay.ts'

const target = 'https://topic.example.com/api/events'

it.each([
  {
    name: 'in a dry run of a fresh folder',
    letters: [letter('1'), letter('1'), letter('1')],
    args: ['--dry-run'],
    says: /^1 event would be published to https:\S+, .*, 2 duplicates in the files\n$/,
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
  expect((await replay(dead, ...args)).text).toMatch(says)
})

/** A replay of these files of one folder, and what a topic was sent that answers so. */
async function replayed(
  files: Readonly<Record<string, unknown>>,
  options: Partial<ReplayOptions> & { readonly answer?: (id: string) => void } = {},
) {
  const dead = temporaryFolder()
  const write = (name: string, content: unknown) => {
    const path = join(dead, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return path
  }
  const { answer = () => {}, ...changes } = options
  const sent: string[] = []
  const publish = async (event: unknown) => {
    const { id } = JSON.parse(String(event))
    sent.push(id)
    answer(id)
    return { ids: [], count: 1, requestId: undefined }
  }
  const report = await replay({
    files: Object.entries(files).map(([name, content]) => ({ path: write(name, content), folder: dead })),
    ...{ target, signal: new AbortController().signal, output: { publish } },
    ...{ topicSchema: 'CloudEventSchemaV1_0', defaultSource: '/s', isWanted: () => true, onProgress: () => {} },
    ...changes,
  })
  return { ...report, sent, dead }
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
    ...{ failed: 0, converted: 3, again: 0, unrecorded: 0, files: 3 },
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
  expect(readdirSync(dead)).toEqual(['a.json'])
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

it('ends at more events than it can keep in mind, and counts each entry', async () => {
  const { counts, sent, ended } = await replayed(
    { '1.json': [letter('1'), letter('1'), letter('2'), letter('3')] },
    { maxEvents: 2 },
  )
  expect(ended).toMatchObject({ message: expect.stringContaining('more than 2 events') })
  expect(counts).toMatchObject({ published: 0, duplicates: 1, notTried: 3 })
  expect(sent).toEqual([])
})

it('counts what was tried without knowing what became of it apart from what was not tried', async () => {
  const { counts, ended } = await replayed(
    { '1.json': [letter('1'), letter('2'), letter('3')] },
    { topicSchema: 'auto', output: { publish: () => Promise.reject(new Error('no answer')) } },
  )
  expect(ended).toMatchObject({ message: 'no answer' })
  expect(counts).toMatchObject({ published: 0, failed: 1, notTried: 2 })
})

it.each([
  { rate: 50, count: 60, batches: [1, 20, 20, 19] },
  { rate: 3, count: 4, batches: [1, 3] },
])('publishes at most $rate events a second', async ({ rate, count, batches }) => {
  const times: number[] = []
  const started = performance.now()
  const { counts } = await replayed(
    { 'a.json': letters(count) },
    { rate, topicSchema: 'auto', answer: () => void times.push(performance.now()) },
  )
  expect(counts.published).toBe(count)
  let before = 0
  for (const size of batches) {
    // Of the whole time the events before may have taken so much.
    expect((times[before] ?? 0) - started).toBeGreaterThanOrEqual((before / rate) * 1_000 - 5)
    before += size
  }
})

it('hears its signal between two files, also where nothing is sent', async () => {
  const stop = new AbortController()
  setImmediate(() => stop.abort())
  const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`${index}.json`, letter(String(index))]))
  const { counts } = await replayed(files, { output: undefined, signal: stop.signal })
  expect(counts.notTried).toBeGreaterThan(0)
  expect(counts.published + counts.notTried).toBe(50)
})

it('does not know what became of an event that is refused after an attempt that may have been accepted', async () => {
  const refuse = (attempts: number) => () => {
    throw new BindingError('CREDENTIALS_REJECTED', { what: 'another key', details: { status: 401, attempts } })
  }
  const first = await replayed({ '1.json': letter('1') }, { answer: refuse(2) })
  expect(first.counts).toMatchObject({ failed: 1, published: 0 })
  const next = await replay({
    files: [{ path: join(first.dead, '1.json'), folder: first.dead }],
    ...{ target, signal: new AbortController().signal, topicSchema: 'CloudEventSchemaV1_0', defaultSource: '/s' },
    ...{ isWanted: () => true, onProgress: () => {} },
    output: { publish: async () => ({ ids: [], count: 1, requestId: undefined }) },
  })
  expect(next.counts).toMatchObject({ published: 1, again: 1 })
})
