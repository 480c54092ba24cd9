import { createPipelineRequest } from '@azure/core-rest-pipeline'
import { expect, it } from 'vitest'
import { createSendOnce, createTrustPolicy } from '../../src/azure/http.ts'
import { startScripted } from '../provision/scripted-arm.ts'

it.each([
  { name: 'is put off', status: 503, headers: { 'retry-after': '0' } },
  { name: 'is led elsewhere', status: 302, headers: { location: '/elsewhere' } },
  { name: 'is answered', status: 200, headers: {} },
])('sends a request once that $name', async ({ status, headers }) => {
  const server = await startScripted(() => ({ status, headers, text: 'a long answer' }))
  const send = createSendOnce({ connect: createTrustPolicy(server), answerLimit: { maxBytes: 6, longer: 'cut' } })
  const answer = await send(createPipelineRequest({ url: `${server.url}/x`, disableKeepAlive: true }))
  expect(answer).toMatchObject({ status, bodyAsText: 'a long' })
  expect(server.asked.map(({ path }) => path)).toEqual(['/x'])
  const [asked] = server.asked
  expect(asked?.headers['user-agent']).toMatch(/^eventgrid-binding /)
  expect(asked?.headers).not.toHaveProperty('accept-encoding')
})

it('sends it once more with another token, where one is refused', async () => {
  const server = await startScripted(({ headers }) => ({ status: headers.authorization === 'Bearer new' ? 200 : 401 }))
  const credential = { getToken: async () => ({ token: 'new', expiresOnTimestamp: 0 }), renew: () => true }
  const send = createSendOnce({ connect: createTrustPolicy(server), entra: { credential, scope: 'scope' } })
  const request = createPipelineRequest({ url: server.url, disableKeepAlive: true })
  request.headers.set('authorization', 'Bearer old')
  expect((await send(request)).status).toBe(200)
  expect(server.asked).toHaveLength(2)
})
