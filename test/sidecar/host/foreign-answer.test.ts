import { expect, it } from 'vitest'
import { startTopic } from '../../publisher/scripted-topic.ts'
import { captureLog } from '../../support/captured-log.ts'
import { openApi } from './api/open-api.ts'

it('run answers 500 and logs it where a page answers in the place of the topic', async () => {
  const topic = await startTopic(() => ({ foreign: 200, headers: { 'content-type': 'text/html' }, body: '<p>Hello' }))
  const log = captureLog()
  const api = await openApi({}, { httpEndpoint: topic.endpoint, key: 'a-key' }, log)
  const answer = await api.inject({
    ...{ method: 'POST', url: '/v1.0/bindings/orders', headers: { host: '127.0.0.1' } },
    body: JSON.stringify({ operation: 'create', data: { order: 1 } }),
  })
  expect(answer.statusCode).toBe(500)
  expect(answer.json()).toMatchObject({ errorCode: 'ERR_INVOKE_OUTPUT_BINDING' })
  expect(answer.json().message).toMatch(/PUBLISH_REJECTED.*<p>Hello.*proxy/)
  expect(log.lines.find(({ level }) => level === 'warn')?.fields).toMatchObject({ code: 'PUBLISH_REJECTED' })
  expect(topic.requests).toHaveLength(1)
})
