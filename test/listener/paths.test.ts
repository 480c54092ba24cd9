import { describe, expect, it } from 'vitest'
import { cloudEventText, openListener } from './open-listener.ts'

describe('the listener', () => {
  const input = { subscriberEndpoint: 'https://shop.example.com/hooks/caf%c3%a9%20%2fa/:id/*?code=marked' }

  it.each([
    '/api/events',
    '/api/events?anything=1',
    '/hooks/caf%c3%a9%20%2fa/:id/*',
    '/hooks/caf%c3%a9%20%2fa/:id/*?code=marked',
  ])('serves %s', async (path) => {
    const { deliver, request, events } = await openListener({ input })
    expect((await deliver(cloudEventText('1'), {}, path)).status).toBe(200)
    expect((await request({ method: 'OPTIONS' }, path)).status).toBe(200)
    expect(events).toHaveLength(1)
  })

  it.each(['/', '/healthz', '/api', '/api/events/1', '/hooks/caf%c3%a9%20/a/:id/*', '/hooks/caf%C3%A9%20%2Fa/:id/*'])(
    'answers 404 on %s, whatever the method',
    async (path) => {
      const { deliver, request } = await openListener({ input })
      for (const method of ['GET', 'OPTIONS', 'DELETE']) expect((await request({ method }, path)).status).toBe(404)
      const answer = await deliver(cloudEventText('1'), {}, path)
      expect(answer.status).toBe(404)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(await answer.json()).toMatchObject({ detail: `There is nothing at "${path}".`, path })
    },
  )

  it('names the path that arrived in its 404, cut, and without the query', async () => {
    const { request } = await openListener({ input })
    const answer = await request({ method: 'OPTIONS' }, `/${'a'.repeat(400)}?code=secret`)
    expect(await answer.json()).toMatchObject({ detail: `There is nothing at "/${'a'.repeat(255)}".` })
  })

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'QUERY'])('answers 405 with Allow to %s', async (method) => {
    const { request } = await openListener({ input })
    const answer = await request({ method })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST, OPTIONS')
  })
})
