import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startTopic } from '../../publisher/scripted-topic.ts'
import { letter, openReplay } from './open-replay.ts'

it('enters nothing into the ledger for a page, and publishes all once the topic answers', async () => {
  const page = '<!doctype html><title>Sign in</title>'
  let isPortal = true
  const topic = await startTopic(() =>
    isPortal ? { foreign: 200, headers: { 'content-type': 'text/html' }, body: page } : { status: 200 },
  )
  const { component, write, replay, dead } = await openReplay()
  component({ topicEndpoint: topic.endpoint })
  write('1.json', [letter('1'), letter('2')])
  await expect(replay(dead)).rejects.toMatchObject({
    code: 'PUBLISH_REJECTED',
    message: expect.stringMatching(/Sign in.*proxy/),
  })
  // The first answer was enough.
  expect(topic.requests).toHaveLength(1)
  isPortal = false
  expect((await replay(dead)).text).toMatch(/^2 events published\n$/)
  expect((await replay(dead)).text).toContain('0 events published, 2 published before')
  expect(readdirSync(dead)).toContain('eventgrid-replay.db')
})
