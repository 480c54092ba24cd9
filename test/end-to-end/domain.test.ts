/** A domain as the scope, a domain topic as the scope, and the endpoint of a domain as topicEndpoint. */
import { describe, expect, it } from 'vitest'
import { openWorld, without } from '../support/open-world.ts'

async function openDomain(inputSchema: 'CloudEventSchemaV1_0' | 'EventGridSchema' = 'CloudEventSchemaV1_0') {
  const world = await openWorld({ emulator: { domains: [{ name: 'shop', inputSchema }] } })
  const { id, endpoint, key } = world.emulator.domain('shop')
  const writes = () =>
    world.emulator.records.requests
      .filter(({ route, method }) => route === 'arm' && (method === 'PUT' || method === 'PATCH'))
      .map(({ method, url }) => `${method} ${new URL(url, 'https://x').pathname}`)
  return { ...world, id, writes, output: { topicEndpoint: endpoint, accessKey: key } }
}

const payload = { order: 'one' }

describe('a domain', () => {
  it.each([
    { name: 'as the scope', path: '', got: ['lamps', 'chairs'] },
    { name: 'with its topic as the scope', path: '/topics/lamps', got: ['lamps'] },
  ])('$name has its event subscription at the extension path, and gets its events', async ({ path, got }) => {
    const { emulator, binding, handled, init, id, writes, output } = await openDomain()
    await init({ scope: `${id}${path}`, ...output })
    expect(writes()).toEqual([`PUT ${id}${path}/providers/Microsoft.EventGrid/eventSubscriptions/orders`])
    for (const source of ['lamps', 'chairs']) {
      await binding.invoke('create', payload, { metadata: { source, type: 'order.placed' } })
    }
    await emulator.settled()
    expect(handled.map(({ cloudEvent }) => cloudEvent.source)).toEqual(got)
  })

  it('with the Event Grid schema takes the domain topic from the same metadata field', async () => {
    const { emulator, binding, handled, init, id, output } = await openDomain('EventGridSchema')
    await init({ scope: `${id}/topics/lamps`, ...output, topicSchema: 'EventGridSchema' })
    await binding.invoke('create', payload, { metadata: { source: 'lamps', type: 'order.placed', subject: '/orders' } })
    await emulator.settled()
    expect(handled.map(({ cloudEvent }) => cloudEvent.source)).toEqual([`${id}/topics/lamps`])
  })

  it('refuses an event that names no domain topic, in its own words', async () => {
    const { binding, init, output } = await openDomain()
    await init({
      ...without('scope', 'subscriberEndpoint', 'handshakePort', 'eventSubscriptionName'),
      ...output,
      direction: 'output',
    })
    await expect(binding.invoke('create', payload)).rejects.toMatchObject({
      code: 'PUBLISH_REJECTED',
      message: expect.stringContaining('should be just the name of the domain topic'),
    })
  })
})
