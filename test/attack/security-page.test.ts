import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { serverDefaults } from '../../src/listener/http/server.ts'
import { publisherDefaults } from '../../src/publisher/limits.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(resolve(root, 'docs/security.md'), 'utf8')

const rowsUnder = (title: string) =>
  (page.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()))

it('says of each bound what the code says', () => {
  const value = (bound: string) => rowsUnder('Bounds').find(([, name]) => name === bound)?.[2]
  const seconds = (milliseconds: number) => `${milliseconds / 1_000} s`
  const number = (count: number) => count.toLocaleString('en-US')
  expect({
    head: value('head of a request'),
    headers: value('time until the head is there'),
    request: value('time until the request is there'),
    still: value('time in which nothing moves on a connection, also between two requests'),
    event: value('an event that is published'),
    events: value('events of a request to the topic'),
    queued: value('events in the publish queue'),
    bytes: value('bytes in the publish queue'),
    create: value('time of a `create`'),
    attempt: value('time of one request to the topic'),
    close: value('time `close` goes on publishing'),
  }).toEqual({
    head: `${number(serverDefaults.maxHeaderBytes)} bytes`,
    headers: seconds(serverDefaults.headersTimeoutMs),
    request: seconds(serverDefaults.requestTimeoutMs),
    still: seconds(serverDefaults.connectionTimeoutMs),
    event: `${number(publisherDefaults.maxEventBytes)} bytes`,
    events: number(publisherDefaults.maxRequestEvents),
    queued: number(publisherDefaults.maxQueuedEvents),
    bytes: number(publisherDefaults.maxQueuedBytes),
    create: seconds(publisherDefaults.publishTimeoutMs),
    attempt: seconds(publisherDefaults.attemptTimeoutMs),
    close: seconds(publisherDefaults.closeTimeoutMs),
  })
})
