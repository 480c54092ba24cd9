import { appendFileSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openLedger } from '../../../src/sidecar/replay/ledger.ts'
import { replay } from '../../../src/sidecar/replay/replay.ts'
import { letter, openReplay } from './open-replay.ts'

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
      const ids = Array.from({ length: count }, (_, index) => `${expected + index}-${'x'.repeat(index)}`)
      expected += count
      write(
        `${expected}.json`,
        ids.map((id) => letter(id)),
      )
      expect((await replay(dead)).code).toBe(0)
      // The line of a published event whose process was killed while it wrote it.
      appendFileSync(ledger, `\n${readFileSync(ledger, 'utf8').split('\n').at(-1)?.slice(0, cut)}`)
    }),
    { numRuns: 12, seed: 52 },
  )
  expect(published()).toHaveLength(expected)
  expect((await replay(dead)).text).toBe(`0 events published, ${expected} published before\n`)
})

it('says of an event that fits neither schema why the topic does not take it as it is', async () => {
  const { write, replay, dead } = await openReplay()
  write('1.json', letter('1', { source: undefined, tenant: 'a' }))
  const { code, text } = await replay(dead)
  expect(code).toBe(1)
  expect(text).toMatch(/\(id "1"\): .*source is missing/)
  expect(text).not.toContain('no place for')
})

it('ends at more events than it can keep in mind, and has published the others', async () => {
  const { write, dead } = await openReplay()
  const path = write('1.json', [letter('1'), letter('1'), letter('2'), letter('3')])
  const ledger = await openLedger([dead], {
    target: 'https://topic.example.com/api/events',
    readOnly: false,
    maxEvents: 2,
  })
  const sent: unknown[] = []
  const publish = async (event: unknown) => {
    sent.push(event)
    return { ids: [], count: 1, requestId: undefined }
  }
  const { counts, ended } = await replay({
    ...{ files: [{ path, folder: dead }], ledger, signal: new AbortController().signal },
    output: { publish },
    ...{ topicSchema: 'CloudEventSchemaV1_0', defaultSource: '/s', isWanted: () => true, onProgress: () => {} },
  })
  ledger.close()
  expect(ended).toMatchObject({ message: expect.stringContaining('more than 2 events') })
  expect(counts).toMatchObject({ published: 2, duplicates: 1 })
  expect(sent).toHaveLength(2)
  await expect(
    openLedger([dead], { target: 'https://topic.example.com/api/events', readOnly: true, maxEvents: 1 }),
  ).rejects.toThrow('more than 1 events')
})

it('counts what was tried without knowing what became of it apart from what was not tried', async () => {
  const { write, dead } = await openReplay()
  const path = write('1.json', [letter('1'), letter('2'), letter('3')])
  const ledger = await openLedger([dead], { target: 'https://topic.example.com/api/events', readOnly: false })
  const { counts, ended } = await replay({
    ...{ files: [{ path, folder: dead }], ledger, signal: new AbortController().signal },
    output: { publish: () => Promise.reject(new Error('no answer')) },
    ...{ topicSchema: 'auto', defaultSource: '/s', isWanted: () => true, onProgress: () => {} },
  })
  ledger.close()
  expect(ended).toMatchObject({ message: 'no answer' })
  expect(counts).toMatchObject({ published: 0, failed: 1, notTried: 2 })
})
