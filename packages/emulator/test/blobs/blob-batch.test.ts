import { expect, it } from 'vitest'
import { batchParts } from '../../src/blobs/blob-call.ts'

const request = (ids: boolean) =>
  ['/a/c/one', '/a/c/two']
    .map(
      (path, at) =>
        `--b 1\r\nContent-Type: application/http\r\n${ids ? `Content-ID: ${at}\r\n` : ''}\r\nDELETE ${path} HTTP/1.1\r\nX-Ms-Date: today\r\n\r\n`,
    )
    .join('')
    .concat('--b 1--\r\n')
const answers = (order: readonly number[], ids: boolean) =>
  order
    .map(
      (at) =>
        `--r\nContent-Type: application/http\n${ids ? `Content-ID: ${at}\n` : ''}\nHTTP/1.1 ${202 + 2 * at} Words\nx-ms-request-id: r${at}\n\n<Error>\n\nx: y</Error>\n`,
    )
    .join('')
    .concat('--r--')

it.each([
  { what: 'by their ids', order: [1, 0], ids: true },
  { what: 'by their places', order: [0, 1], ids: false },
])('matches requests and answers $what', ({ order, ids }) => {
  const parts = batchParts(
    { contentType: 'multipart/mixed; boundary="b 1"', body: request(ids) },
    { contentType: 'multipart/mixed;boundary=r', body: answers(order, ids) },
  )
  expect(parts).toMatchObject([
    {
      call: { method: 'DELETE', url: '/a/c/one', headers: { 'x-ms-date': 'today' } },
      answer: { status: 202, headers: { 'x-ms-request-id': 'r0' } },
    },
    { call: { url: '/a/c/two' }, answer: { status: 204, headers: { 'x-ms-request-id': 'r1' } } },
  ])
})

it.each([
  { what: 'no boundary', contentType: 'multipart/mixed', body: answers([0], true) },
  { what: 'no content type', contentType: undefined, body: answers([0], true) },
  { what: 'other ids', contentType: 'multipart/mixed; boundary=r', body: answers([7], true) },
  { what: 'an error for all', contentType: 'application/xml', body: '<Error/>' },
])('finds none in an answer with $what', ({ contentType, body }) => {
  expect(
    batchParts({ contentType: 'multipart/mixed; boundary="b 1"', body: request(true) }, { contentType, body }),
  ).toEqual([])
})
