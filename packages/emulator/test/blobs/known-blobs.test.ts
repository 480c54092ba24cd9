import { expect, it } from 'vitest'
import { createKnownBlobs } from '../../src/blobs/known-blobs.ts'

const latest = (...ids: readonly string[]) => ids.map((id) => ({ id, from: 'Latest' as const }))

it('forgets the blob that was not written for the longest time, with its blocks', () => {
  const known = createKnownBlobs(5)
  known.staged('c/one', 'a', 1)
  known.staged('c/two', 'a', 2)
  known.staged('c/one', 'b', 10)
  expect(known.lengthOf('c/one', latest('a', 'b'))).toBe(11)
  known.wrote('c/three', { contentLength: 7 })
  expect(known.lengthOf('c/two', latest('a'))).toBeUndefined()
  expect(known.lengthOf('c/one', latest('a', 'b'))).toBe(11)
  expect(known.facts('c/three')).toEqual({ contentLength: 7 })
})

it('knows which blocks a list may mean', () => {
  const known = createKnownBlobs()
  known.staged('c/b', 'a', 1)
  known.committed('c/b', latest('a'), {})
  known.staged('c/b', 'a', 5)
  const lengthFrom = (from: 'Committed' | 'Uncommitted' | 'Latest') => known.lengthOf('c/b', [{ id: 'a', from }])
  expect([lengthFrom('Committed'), lengthFrom('Uncommitted'), lengthFrom('Latest')]).toEqual([1, 5, 5])
  known.committed('c/b', latest('a'), {})
  expect([lengthFrom('Committed'), lengthFrom('Uncommitted'), lengthFrom('Latest')]).toEqual([5, undefined, 5])
})

it('has the blocks of a copy from its source', () => {
  const known = createKnownBlobs()
  known.staged('c/b', 'a', 5)
  known.committed('c/b', latest('a'), { contentLength: 5 })
  known.copied('d/copy', 'c/b', { contentLength: 5 })
  known.copied('d/other', undefined, undefined)
  expect([known.lengthOf('d/copy', latest('a')), known.lengthOf('d/other', latest('a'))]).toEqual([5, undefined])
})

it.each<[what: string, act: (known: ReturnType<typeof createKnownBlobs>) => void]>([
  ['its container', (known) => known.forgetContainer('c/')],
  ['a block of unknown length', (known) => known.staged('c/b', 'a', undefined)],
  ['a blob that was written whole', (known) => known.wrote('c/b', {})],
  ['a block list that was not read', (known) => known.committed('c/b', undefined, {})],
])('knows no length behind %s', (_what, act) => {
  const known = createKnownBlobs()
  known.staged('c/b', 'a', 5)
  known.staged('cc/b', 'a', 5)
  act(known)
  expect(known.lengthOf('c/b', latest('a'))).toBeUndefined()
  expect(known.lengthOf('cc/b', latest('a'))).toBe(5)
})
