import { expect, it } from 'vitest'
import { readList } from '../../src/provision/arm.ts'

it('reads all pages of a list, and fails where there are too many of them', async () => {
  const asked: string[] = []
  const next = 'https://management.azure.com/next?api-version=1&page=2'
  const pages = [
    { value: [1], nextLink: next },
    { value: [2], nextLink: null },
  ]
  const get = async (path: string) => pages[asked.push(path) - 1]
  expect(await readList(get, '/scope', 'permissions')).toEqual([1, 2])
  expect(asked).toEqual(['/scope', next])
  const endless = async () => ({ value: [{}], nextLink: next })
  const failure = { kind: 'answerUnread', message: 'the list of permissions has more than 100 pages' }
  await expect(readList(endless, '/scope', 'permissions')).rejects.toMatchObject({ failure })
})

it.each([[], { value: 5 }, { value: [], error: {} }, { value: [], nextLink: 5 }])(
  'takes %j for no list',
  async (page) => {
    await expect(readList(async () => page, '/scope', 'permissions')).rejects.toMatchObject({
      failure: { kind: 'answerUnread', message: 'it is not a list of permissions' },
    })
  },
)
