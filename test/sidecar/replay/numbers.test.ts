import { expect, it } from 'vitest'
import { startTopic } from '../../publisher/scripted-topic.ts'
import { letter, openReplay } from './open-replay.ts'

it.each([
  '9007199254740993',
  '-9007199254740993',
  '12345678901234567',
  '1234567890123456789',
  '1E400',
  '0.12345678901234567890',
])('publishes %s of a dead letter with its digits', async (number) => {
  const topic = await startTopic()
  const { component, write, replay, dead } = await openReplay()
  component({ topicEndpoint: topic.endpoint })
  write('1.json', JSON.stringify([letter('1', { data: { number: 0 } })]).replace('"number":0', `"number":${number}`))
  expect((await replay(dead)).code).toBe(0)
  expect(topic.requests[0]?.body).toContain(`"number":${number}`)
})
