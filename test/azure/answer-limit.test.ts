import { PassThrough, Readable } from 'node:stream'
import { createHttpHeaders, createPipelineRequest } from '@azure/core-rest-pipeline'
import { describe, expect, it } from 'vitest'
import { createAnswerLimitPolicy, readBounded } from '../../src/azure/http.ts'

const streamOf = (...chunks: string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)))

describe('a body that is read in bounds', () => {
  it.each(['fail', 'cut'] as const)('is whole where it is as long as the bound (%s)', async (longer) => {
    expect(String(await readBounded(streamOf('abc', 'def'), { maxBytes: 6, longer }))).toBe('abcdef')
    expect(String(await readBounded(streamOf(), { maxBytes: 6, longer }))).toBe('')
  })

  it('is cut where it is longer, and the connection ends', async () => {
    const stream = streamOf('abc', 'def', 'ghi', 'jkl')
    expect(String(await readBounded(stream, { maxBytes: 5, longer: 'cut' }))).toBe('abcde')
    expect(stream.destroyed).toBe(true)
  })

  it('fails where it is longer, and the connection ends', async () => {
    const stream = streamOf('abc', 'def', 'ghi')
    const read = readBounded(stream, { maxBytes: 5, longer: 'fail' })
    await expect(read).rejects.toMatchObject({ name: 'RestError', code: 'ANSWER_TOO_LONG' })
    expect(stream.destroyed).toBe(true)
  })

  it.each([
    { name: 'an error', end: new Error('marked') },
    { name: 'no end', end: undefined },
  ])('fails where the connection breaks with $name', async ({ end }) => {
    const stream = new PassThrough()
    const read = readBounded(stream, { maxBytes: 5, longer: 'cut' })
    stream.write('a')
    stream.destroy(end)
    await expect(read).rejects.toMatchObject({ name: 'RestError', code: 'ECONNRESET' })
  })
})

it.each([
  { name: 'a body', body: streamOf('{}'), text: '{}' },
  { name: 'none', body: undefined, text: '' },
])('an answer with $name has it as text, asked for as bytes that come as they are', async ({ body, text }) => {
  const request = createPipelineRequest({ url: 'https://x.example.com' })
  request.headers.set('accept-encoding', 'gzip')
  const { sendRequest } = createAnswerLimitPolicy({ maxBytes: 5, longer: 'fail' })
  const answer = await sendRequest(request, async (one) => {
    expect(one.headers.has('accept-encoding')).toBe(false)
    expect([...(one.streamResponseStatusCodes ?? [])]).toEqual([Number.POSITIVE_INFINITY])
    return { request: one, headers: createHttpHeaders(), status: 200, ...(body && { readableStreamBody: body }) }
  })
  expect(answer).toMatchObject({ status: 200, bodyAsText: text })
  expect(answer).not.toHaveProperty('readableStreamBody')
  expect([...(request.streamResponseStatusCodes ?? [])]).toEqual([])
})
