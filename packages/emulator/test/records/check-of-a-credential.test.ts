import { expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { requestLines } from '../../src/cli/record-lines.ts'

it.each([
  { what: 'an empty list with the key is told as a check', right: true, refused: 0, says: /an empty list: a check/ },
  { what: 'an empty list with a wrong key is a refused publish', right: false, refused: 1, says: /Unauthorized/ },
])('$what', async ({ right, refused, says }) => {
  const emulator = await startEmulator()
  const { httpEndpoint, key } = emulator.topic()
  const headers = {
    'aeg-sas-key': right ? key : 'AAAA',
    'content-type': 'application/cloudevents-batch+json; charset=utf-8',
  }
  const { status } = await fetch(httpEndpoint, { method: 'POST', headers, body: '[]' })
  expect(status).toBe(right ? 400 : 401)
  const [record] = emulator.records.requests
  const lines = record ? requestLines(record, true).map((line) => line.map(({ text }) => text).join('')) : []
  expect(lines).toEqual([expect.stringMatching(says)])
  expect(emulator.figures().refused).toBe(refused)
  expect(Object(await (await fetch(`${emulator.proxy}/emulator/state`)).json()).refused).toHaveLength(refused)
})
